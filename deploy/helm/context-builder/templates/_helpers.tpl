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
{{- with .Values.templates }}{{ if or .hints .pages .phrases .profiles .presets }}true{{ end }}{{ end }}
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
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
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
{{- $keys := dict "USER" $auth.userKey "PASSWORD" $auth.passwordKey "TOKEN" $auth.tokenKey }}
{{- range $name, $key := $keys }}
{{- if $key }}
- name: CONTEXT_BUILDER_NATS__{{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $auth.existingSecret | quote }}
      key: {{ $key | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* The settings of the service, for it and for what works on its store. */}}
{{- define "context-builder.env" -}}
{{- $auth := .Values.nats.auth }}
- name: CONTEXT_BUILDER_NAME
  value: {{ .Values.name | quote }}
- name: CONTEXT_BUILDER_DATA_DIR
  value: /data
- name: CONTEXT_BUILDER_HTTP__HOST
  # Probes and the Service come from outside the pod.
  value: 0.0.0.0
- name: CONTEXT_BUILDER_HTTP__PORT
  value: {{ .Values.http.port | quote }}
- name: CONTEXT_BUILDER_LOG__LEVEL
  value: {{ .Values.log.level }}
- name: CONTEXT_BUILDER_LOG__FORMAT
  value: {{ .Values.log.format }}
- name: CONTEXT_BUILDER_WORKER__PURGE_HOURS
  value: {{ .Values.worker.purgeHours | quote }}
- name: CONTEXT_BUILDER_WORKER__GRACEFUL_SECONDS
  value: {{ .Values.worker.gracefulSeconds | quote }}
- name: CONTEXT_BUILDER_NATS__SERVERS
  value: {{ include "context-builder.servers" . | quote }}
- name: CONTEXT_BUILDER_NATS__REPLICAS
  value: {{ .Values.nats.replicas | quote }}
- name: CONTEXT_BUILDER_NATS__BREADCRUMBS_MAX_AGE_HOURS
  value: {{ .Values.nats.breadcrumbsMaxAgeHours | quote }}
{{- with include "context-builder.credentialsEnv" . }}
{{- . | trim | nindent 0 }}
{{- end }}
{{- if $auth.credentialsKey }}
- name: CONTEXT_BUILDER_NATS__CREDENTIALS
  value: /etc/context-builder/nats/user.creds
{{- end }}
{{- if $auth.nkeyKey }}
- name: CONTEXT_BUILDER_NATS__NKEY
  value: /etc/context-builder/nats/user.nk
{{- end }}
{{- if $auth.caKey }}
- name: CONTEXT_BUILDER_NATS__TLS_CA
  value: /etc/context-builder/nats/ca.crt
{{- end }}
{{- if $auth.certKey }}
- name: CONTEXT_BUILDER_NATS__TLS_CERT
  value: /etc/context-builder/nats/client.crt
- name: CONTEXT_BUILDER_NATS__TLS_KEY
  value: /etc/context-builder/nats/client.key
{{- end }}
{{- if include "context-builder.hasTemplates" . }}
- name: CONTEXT_BUILDER_TEMPLATES_DIR
  value: /etc/context-builder/templates
{{- end }}
{{- with .Values.extraEnv }}
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end }}

{{- define "context-builder.mounts" -}}
{{- $auth := .Values.nats.auth }}
{{- $credentialFiles := or $auth.credentialsKey $auth.nkeyKey $auth.caKey $auth.certKey }}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- if include "context-builder.hasTemplates" . }}
- name: templates
  mountPath: /etc/context-builder/templates
  readOnly: true
{{- end }}
{{- if $credentialFiles }}
- name: nats-credentials
  mountPath: /etc/context-builder/nats
  readOnly: true
{{- end }}
{{- end }}

{{/* Asks the embedded broker how it is; http.client ignores proxy variables. A status other than 200 is a failure. */}}
{{- define "context-builder.brokerProbe" -}}
{{- $program := "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8222, timeout=4); c.request('GET', '%s'); raise SystemExit(c.getresponse().status != 200)" }}
{{- list "python" "-c" (printf $program .) | toJson }}
{{- end }}
