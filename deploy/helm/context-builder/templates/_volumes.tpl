{{/*
Volumes and their mounts: (dict "root" $ "files" bool). files: with the templates, whose ConfigMaps are not there yet when the Job
of a first installation runs, and with the claim, which is the service's alone.
*/}}
{{- define "context-builder.mounts" -}}
{{- $values := .root.Values }}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- if and .files (include "context-builder.hasTemplates" .root) }}
- name: templates
  mountPath: /etc/context-builder/templates
  readOnly: true
{{- end }}
{{- if include "context-builder.hasCredentialFiles" .root }}
- name: nats-credentials
  mountPath: /etc/context-builder/nats
  readOnly: true
{{- end }}
{{- if $values.http.tokensKey }}
- name: http-tokens
  mountPath: /etc/context-builder/http
  readOnly: true
{{- end }}
{{- if $values.store.postgresql.caKey }}
- name: postgresql-ca
  mountPath: /etc/context-builder/postgresql
  readOnly: true
{{- end }}
{{- if $values.embedding.modelsVolume }}
- name: models
  mountPath: /models
  readOnly: true
{{- end }}
{{- with $values.extraVolumeMounts }}
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end }}

{{- define "context-builder.volumes" -}}
{{- $values := .root.Values }}
{{- $name := include "context-builder.fullname" .root }}
{{- $claims := include "context-builder.claims" .root }}
{{- if not (and .files (eq $claims "each")) }}
- name: data
  {{- if and .files (eq $claims "one") }}
  persistentVolumeClaim:
    claimName: {{ default $name $values.persistence.existingClaim | quote }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}
- name: tmp
  emptyDir: {}
{{- if and .files $values.nats.embedded }}
- name: nats-config
  configMap:
    name: {{ $name }}-nats
{{- end }}
{{- if and .files (include "context-builder.hasTemplates" .root) }}
# One folder out of up to six ConfigMaps, each of which may hold 1 MiB.
- name: templates
  projected:
    sources:
      {{- range $folder := list "hints" "pages" "phrases" "profiles" "presets" }}
      {{- with index $values.templates $folder }}
      - configMap:
          name: {{ $name }}-{{ $folder }}
          items:
            {{- range $file, $text := . }}
            - key: {{ $file | quote }}
              path: {{ printf "%s/%s" $folder $file | quote }}
            {{- end }}
      {{- end }}
      {{- end }}
      {{- if $values.templates.models }}
      - configMap:
          name: {{ $name }}-models
          items:
            - key: models.yaml
              path: models.yaml
      {{- end }}
{{- end }}
{{- if include "context-builder.hasCredentialFiles" .root }}
{{- $auth := $values.nats.auth }}
- name: nats-credentials
  secret:
    secretName: {{ $auth.existingSecret | quote }}
    defaultMode: 0440 # the group is ours by fsGroup
    items:
      {{- $files := list (list $auth.credentialsKey "user.creds") (list $auth.nkeyKey "user.nk") (list $auth.caKey "ca.crt")
        (list $auth.certKey "client.crt") (list $auth.keyKey "client.key") }}
      {{- range $files }}
      {{- if first . }}
      - key: {{ first . | quote }}
        path: {{ last . }}
      {{- end }}
      {{- end }}
{{- end }}
{{- with $values.http.tokensKey }}
- name: http-tokens
  secret:
    secretName: {{ $values.http.existingSecret | quote }}
    defaultMode: 0440
    items:
      - key: {{ . | quote }}
        path: tokens.yaml
{{- end }}
{{- with $values.store.postgresql.caKey }}
- name: postgresql-ca
  secret:
    secretName: {{ $values.store.postgresql.existingSecret | quote }}
    defaultMode: 0440
    items:
      - key: {{ . | quote }}
        path: ca.crt
{{- end }}
{{- with $values.embedding.modelsVolume }}
- name: models
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.extraVolumes }}
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end }}
