{{- define "context-builder.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" }}
{{- end }}

{{/* 52: the StatefulSet adds eleven characters to it in a label of at most 63. */}}
{{- define "context-builder.fullname" -}}
{{- $name := include "context-builder.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
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
