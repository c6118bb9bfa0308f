"""What is said here is remembered on disk."""

from openai import OpenAI

from builder.integrations import wrap_openai
from builder.local import local

with local("./memory") as client:
    model = wrap_openai(OpenAI(), client, "s42")
    answer = model.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": "Which kiln is it?"}])
    print(answer.choices[0].message.content)
