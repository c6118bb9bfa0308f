{{- define "context-builder.name" -}}
{{- regexReplaceAll "-+$" (default .Chart.Name .Values.nameOverride | trunc 52) "" }}
{{- end }}

{{/*
52: the StatefulSet adds eleven characters to it in a label of at most 63. A Service's name has no dot and begins with a letter, which
the name of a release may have and may lack.
*/}}
{{- define "context-builder.fullname" -}}
{{- $name := include "context-builder.name" . }}
{{- $full := .Values.fullnameOverride }}
{{- if not $full }}
{{- $release := .Release.Name | replace "." "-" }}
{{- $full = contains $name $release | ternary $release (printf "%s-%s" $release $name) }}
{{- if regexMatch "^[0-9]" $full }}{{- $full = printf "r-%s" $full }}{{- end }}
{{- end }}
{{- regexReplaceAll "-+$" (trunc 52 $full) "" }}
{{- end }}

{{- define "context-builder.selectorLabels" -}}
app.kubernetes.io/name: {{ include "context-builder.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: service
{{- end }}

{{/* Of everything but the pod; without the component, which tells pods and Services apart. */}}
{{- define "context-builder.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "context-builder.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end }}

{{/* Of a pod, beside those that it is selected by; of one key the last value would win, and Kubernetes takes no key twice. */}}
{{- define "context-builder.podLabels" -}}
{{- with merge (dict) .Values.podLabels .Values.commonLabels }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "context-builder.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* "true" when there is a file to lay over the bundled ones. */}}
{{- define "context-builder.hasTemplates" -}}
{{- with .Values.templates }}{{ if or .hints .pages .phrases .profiles .presets .models }}true{{ end }}{{ end }}
{{- end }}

{{/* "true" when the broker's credentials come as files. */}}
{{- define "context-builder.hasCredentialFiles" -}}
{{- with .Values.nats.auth }}{{ if or .credentialsKey .nkeyKey .caKey .certKey }}true{{ end }}{{ end }}
{{- end }}

{{/* "true" when PostgreSQL is the store. */}}
{{- define "context-builder.postgresql" -}}
{{- if .Values.store.postgresql.existingSecret }}true{{ end }}
{{- end }}

{{/* "true" when a Job rebuilds the store: it is of all workers, and the broker is not in a pod of theirs. */}}
{{- define "context-builder.reindexJob" -}}
{{- if and .Values.reindex (not .Values.nats.embedded) (include "context-builder.postgresql" .) }}true{{ end }}
{{- end }}

{{/*
Claims of the pods: "one" = the chart's own or an existing one, "each" = a template of the StatefulSet gives each worker its own,
"none". Not a template for the embedded broker: it cannot be resized by an upgrade, and this claim holds the stream.
*/}}
{{- define "context-builder.claims" -}}
{{- if not .Values.persistence.enabled -}}
none
{{- else if .Values.nats.embedded -}}
one
{{- else if include "context-builder.postgresql" . -}}
none
{{- else -}}
{{ empty .Values.persistence.existingClaim | ternary "each" "one" }}
{{- end }}
{{- end }}

{{/*
A pod that owns something is of a StatefulSet, which never starts a second one while the first may still run on a lost node: two
processes on one SQLite file or one JetStream folder would ruin it. A pod that owns nothing is of a Deployment: it is replaced
when its node is lost, and an update starts the new one first.
*/}}
{{- define "context-builder.kind" -}}
{{- if or .Values.nats.embedded (ne (include "context-builder.claims" .) "none") }}StatefulSet{{ else }}Deployment{{ end }}
{{- end }}

{{/* The number of workers; left to the autoscaler where there is one. */}}
{{- define "context-builder.replicas" -}}
{{- if or (not .Values.autoscaling.by) (eq (int .Values.replicas) 0) }}
replicas: {{ .Values.replicas }}
{{- end }}
{{- end }}

{{- define "context-builder.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "context-builder.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "context-builder.servers" -}}
{{- if .Values.nats.embedded }}nats://127.0.0.1:4222{{ else }}{{ join "," .Values.nats.servers }}{{ end }}
{{- end }}

{{/* Drain, then 15 seconds to close the store and for the embedded broker, which is stopped last. */}}
{{- define "context-builder.gracePeriod" -}}
{{- add (ceil .Values.worker.gracefulSeconds) 15 }}
{{- end }}

{{- define "context-builder.podSecurityContext" -}}
runAsNonRoot: true
{{- with .Values.podSecurityContext }}
{{- with .runAsUser }}
runAsUser: {{ int64 . }}
{{- end }}
{{- with .runAsGroup }}
runAsGroup: {{ int64 . }}
{{- end }}
{{- with .fsGroup }}
fsGroup: {{ int64 . }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "context-builder.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Credentials straight from the Secret: the service reads them, the embedded broker demands them. */}}
{{- define "context-builder.credentialsEnv" -}}
{{- $auth := .Values.nats.auth }}
{{- range $name, $key := dict "USER" $auth.userKey "PASSWORD" $auth.passwordKey "TOKEN" $auth.tokenKey }}
{{- include "context-builder.secretEnv" (list (print "CONTEXT_BUILDER_NATS__" $name) $auth.existingSecret $key) }}
{{- end }}
{{- end }}

{{/* One variable from a Secret, when the key is set: (list name secret key). */}}
{{- define "context-builder.secretEnv" -}}
{{- if index . 2 }}
- name: {{ index . 0 }}
  valueFrom:
    secretKeyRef:
      name: {{ index . 1 | quote }}
      key: {{ index . 2 | quote }}
{{- end }}
{{- end }}

{{- define "context-builder.storeUrl" -}}
{{- with .Values.store.postgresql }}
{{- include "context-builder.secretEnv" (list "CONTEXT_BUILDER_STORE__URL" .existingSecret .urlKey) }}
{{- end }}
{{- end }}

{{/* The settings of the service, for it and for what works on its store: (dict "root" $ "files" bool). */}}
{{- define "context-builder.env" -}}
{{- $root := .root }}
{{- $values := .root.Values }}
{{- $auth := $values.nats.auth }}
{{- $files := "/etc/context-builder/nats" }}
{{- $settings := list
  (list "NAME" $values.name)
  (list "DATA_DIR" "/data")
  (list "HTTP__HOST" "0.0.0.0")
  (list "HTTP__PORT" $values.http.port)
  (list "LOG__LEVEL" $values.log.level)
  (list "LOG__FORMAT" $values.log.format)
  (list "WORKER__PURGE_HOURS" $values.worker.purgeHours)
  (list "WORKER__GRACEFUL_SECONDS" $values.worker.gracefulSeconds)
  (list "STORE__CACHED_PASSAGES" (int64 $values.store.cachedPassages))
  (list "EMBEDDING__ENGINE" $values.embedding.engine)
  (list "EMBEDDING__MODEL" $values.embedding.model)
  (list "NATS__SERVERS" (include "context-builder.servers" $root))
  (list "NATS__REPLICAS" $values.nats.replicas)
  (list "NATS__BREADCRUMBS_MAX_AGE_HOURS" $values.nats.breadcrumbsMaxAgeHours)
}}
{{- if $values.http.tokensKey }}{{ $settings = append $settings (list "HTTP__TOKENS" "/etc/context-builder/http/tokens.yaml") }}{{ end }}
{{- if $auth.credentialsKey }}{{ $settings = append $settings (list "NATS__CREDENTIALS" (print $files "/user.creds")) }}{{ end }}
{{- if $auth.nkeyKey }}{{ $settings = append $settings (list "NATS__NKEY" (print $files "/user.nk")) }}{{ end }}
{{- if $auth.caKey }}{{ $settings = append $settings (list "NATS__TLS_CA" (print $files "/ca.crt")) }}{{ end }}
{{- if $auth.certKey }}
{{- $settings = append $settings (list "NATS__TLS_CERT" (print $files "/client.crt")) }}
{{- $settings = append $settings (list "NATS__TLS_KEY" (print $files "/client.key")) }}
{{- end }}
{{- if eq $values.embedding.engine "endpoint" }}
{{- $settings = append $settings (list "EMBEDDING__URL" $values.embedding.url) }}
{{- $settings = append $settings (list "EMBEDDING__DIMENSIONS" (int64 $values.embedding.dimensions)) }}
{{- end }}
{{- if $values.embedding.modelsVolume }}{{ $settings = append $settings (list "EMBEDDING__MODELS_DIR" "/models") }}{{ end }}
{{- with $values.summaries }}
{{- if .url }}{{ $settings = concat $settings (list (list "SUMMARIES__URL" .url) (list "SUMMARIES__MODEL" .model)) }}{{ end }}
{{- end }}
{{- if not (kindIs "invalid" $values.lifetimes) }}
{{- $settings = append $settings (list "LIFETIMES" (toJson $values.lifetimes)) }}
{{- end }}
{{- if and .files (include "context-builder.hasTemplates" $root) }}
{{- $settings = append $settings (list "TEMPLATES_DIR" "/etc/context-builder/templates") }}
{{- end }}
{{- range $settings }}
- name: CONTEXT_BUILDER_{{ first . }}
  value: {{ last . | quote }}
{{- end }}
{{- include "context-builder.credentialsEnv" $root }}
{{- with $values.store.postgresql }}
{{- include "context-builder.storeUrl" $root }}
{{- if .caKey }}
# libpq's: where the URL names no certificate authority itself.
- name: PGSSLROOTCERT
  value: /etc/context-builder/postgresql/ca.crt
{{- end }}
{{- end }}
{{- with $values.embedding }}
{{- include "context-builder.secretEnv" (list "CONTEXT_BUILDER_EMBEDDING__KEY" .existingSecret .keyKey) }}
{{- end }}
{{- with $values.summaries }}
{{- include "context-builder.secretEnv" (list "CONTEXT_BUILDER_SUMMARIES__KEY" .existingSecret .keyKey) }}
{{- end }}
{{- with $values.extraEnv }}
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end }}

{{/* Asks the embedded broker how it is; http.client ignores proxy variables. A status other than 200 is a failure. */}}
{{- define "context-builder.brokerProbe" -}}
{{- $program := "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8222, timeout=4); c.request('GET', '%s'); raise SystemExit(c.getresponse().status != 200)" }}
{{- list "python" "-c" (printf $program .) | toJson }}
{{- end }}
