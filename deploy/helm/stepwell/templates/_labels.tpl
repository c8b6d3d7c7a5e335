{{/* The labels by which Services, budgets and monitors find the pods. They must never change: Kubernetes refuses to change those of a Deployment. */}}
{{- define "stepwell.selector" -}}
app.kubernetes.io/name: stepwell
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "stepwell.labels" -}}
{{ include "stepwell.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The path of the public address, which prefixes every route; empty for https://stepwell.example.com/. */}}
{{- define "stepwell.basePath" -}}
{{ regexReplaceAll "^https?://[^/]+" .Values.baseUrl "" | trimSuffix "/" }}
{{- end }}
