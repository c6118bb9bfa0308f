{{/* What runs in the pods of the service and in its Jobs. */}}

{{/* A container of our image with the settings of the service: (dict "root" $ "name" … "args" … "files" bool). */}}
{{- define "context-builder.container" -}}
- name: {{ .name }}
  image: {{ include "context-builder.image" .root | quote }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  args: {{ toJson .args }}
  env:
    {{- include "context-builder.env" . | nindent 4 }}
  {{- with .root.Values.envFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "context-builder.securityContext" .root | nindent 4 }}
  resources:
    {{- toYaml .root.Values.resources | nindent 4 }}
  volumeMounts:
    {{- include "context-builder.mounts" . | nindent 4 }}
{{- end }}

{{/*
In front of the service and of the Jobs: nobody ends because somebody else starts later. (dict "root" $ "brokers" bool)
*/}}
{{- define "context-builder.wait" -}}
{{- $postgresql := include "context-builder.postgresql" .root }}
{{- if or .brokers $postgresql }}
- name: wait
  image: {{ include "context-builder.image" .root | quote }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: [python, -c]
  args:
    - |
      {{- .root.Files.Get "files/wait.py" | nindent 6 }}
    {{- if .brokers }}
    - CONTEXT_BUILDER_NATS__SERVERS
    {{- end }}
    {{- if $postgresql }}
    - CONTEXT_BUILDER_STORE__URL
    {{- end }}
  env:
    {{- if .brokers }}
    - name: CONTEXT_BUILDER_NATS__SERVERS
      value: {{ include "context-builder.servers" .root | quote }}
    {{- end }}
    {{- include "context-builder.storeUrl" .root | nindent 4 }}
  securityContext:
    {{- include "context-builder.securityContext" .root | nindent 4 }}
  resources:
    requests: {cpu: 10m, memory: 32Mi}
    limits: {memory: 64Mi}
{{- end }}
{{- end }}

{{/* The native sidecar: ready before the service starts, stopped after it has drained. */}}
{{- define "context-builder.broker" -}}
{{- $auth := .Values.nats.auth }}
- name: nats
  restartPolicy: Always
  image: {{ include "context-builder.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [nats-server]
  # Flags and not the file: there a password of digits would be read as a number.
  args:
    - --config=/etc/nats/nats.conf
    {{- if $auth.userKey }}
    - --user=$(CONTEXT_BUILDER_NATS__USER)
    - --pass=$(CONTEXT_BUILDER_NATS__PASSWORD)
    {{- else if $auth.tokenKey }}
    - --auth=$(CONTEXT_BUILDER_NATS__TOKEN)
    {{- end }}
  {{- with include "context-builder.credentialsEnv" . }}
  env:
    {{- . | trim | nindent 4 }}
  {{- end }}
  ports:
    - name: nats
      containerPort: 4222
  startupProbe:
    # Healthy once all streams are recovered; ten minutes, for large ones. From inside: the monitoring, which tells subjects
    # and clients to whoever asks, listens on loopback.
    exec: {command: {{ include "context-builder.brokerProbe" "/healthz" }}}
    periodSeconds: 2
    timeoutSeconds: 5
    failureThreshold: 300
  livenessProbe:
    exec: {command: {{ include "context-builder.brokerProbe" "/healthz?js-enabled-only=true" }}}
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 3
  securityContext:
    {{- include "context-builder.securityContext" . | nindent 4 }}
  resources:
    {{- toYaml .Values.nats.resources | nindent 4 }}
  volumeMounts:
    - name: data
      mountPath: /data
    - name: nats-config
      mountPath: /etc/nats
      readOnly: true
{{- end }}

{{/* Metadata and specification of the service's pods, the same in a StatefulSet and in a Deployment. */}}
{{- define "context-builder.podTemplate" -}}
{{- $rebuilds := and .Values.reindex (not (include "context-builder.reindexJob" .)) }}
{{- $waits := include "context-builder.wait" (dict "root" . "brokers" (not .Values.nats.embedded)) }}
metadata:
  labels:
    {{- include "context-builder.selectorLabels" . | nindent 4 }}
    {{- include "context-builder.podLabels" . | nindent 4 }}
  annotations:
    # A changed configuration of the broker restarts the pod; edited templates are read while the service runs.
    checksum/nats: {{ include (print $.Template.BasePath "/nats-configmap.yaml") . | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "context-builder.serviceAccountName" . }}
  terminationGracePeriodSeconds: {{ include "context-builder.gracePeriod" . }}
  {{- include "context-builder.podSettings" . | nindent 2 }}
  {{- if or .Values.nats.embedded $waits $rebuilds }}
  initContainers:
    {{- if .Values.nats.embedded }}
    {{- include "context-builder.broker" . | nindent 4 }}
    {{- end }}
    {{- with $waits }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- if $rebuilds }}
    # Behind the broker and in front of the service: nobody else has the store open.
    {{- include "context-builder.container" (dict "root" . "files" true "name" "reindex" "args" (list "reindex")) | nindent 4 }}
    {{- end }}
  {{- end }}
  containers:
    {{- include "context-builder.container" (dict "root" . "files" true "name" "context-builder" "args" (list "up")) | nindent 4 }}
      ports:
        - name: http
          containerPort: {{ .Values.http.port }}
      startupProbe:
        # The store may have to catch up before the loop starts.
        httpGet: {path: /livez, port: http}
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: {{ div (add .Values.http.startupSeconds 1) 2 }}
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      livenessProbe:
        # The watchdog: a lost durable restarts the pod, a lost broker does not.
        httpGet: {path: /livez, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
  volumes:
    {{- include "context-builder.volumes" (dict "root" . "files" true) | nindent 4 }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- $workers := dict "labelSelector" (dict "matchLabels" (include "context-builder.selectorLabels" $ | fromYaml)) }}
    {{- range . }}
    - {{- merge (dict) . $workers | toYaml | nindent 6 }}
    {{- end }}
  {{- end }}
{{- end }}

{{/* What the pods of the service, of the Jobs and of `helm test` have in common. */}}
{{- define "context-builder.podSettings" -}}
automountServiceAccountToken: false
# Kubernetes would add CONTEXT_BUILDER_… variables for Services of that name, among our settings.
enableServiceLinks: false
securityContext:
  {{- include "context-builder.podSecurityContext" . | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
