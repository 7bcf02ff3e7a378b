{{- /* The pod, the same on both stores but for its volume and its database. */ -}}
{{- define "plants.pod" -}}
metadata:
  labels:
    {{- include "plants.labels" . | nindent 4 }}
spec:
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . | quote }}
    {{- end }}
  {{- end }}
  # The service asks nothing of Kubernetes.
  automountServiceAccountToken: false
  enableServiceLinks: false
  # Longer than both parts of a stop, PLANT_STORE_DRAIN_DELAY_MS and PLANT_STORE_DRAIN_MS.
  terminationGracePeriodSeconds: 30
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    # A change at each start would open the data folder to the group.
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- if eq .Values.store "postgres" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "plants.selector" . | nindent 10 }}
  {{- end }}
  containers:
    - name: plant-store
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      env:
        - name: PLANT_STORE_HOST
          value: "0.0.0.0"
        - name: PLANT_STORE_PORT
          value: "8080"
        - name: PLANT_STORE_METRICS
          value: "0.0.0.0:9464"
        # A folder that the service makes in the volume, for itself alone.
        - name: PLANT_STORE_DATA
          value: /data/store
        - name: PLANT_STORE_TRUSTED_PROXIES
          value: {{ .Values.trustedProxies | quote }}
        # Until every node knows that the pod takes no more requests.
        - name: PLANT_STORE_DRAIN_DELAY_MS
          value: "5000"
        {{- if eq .Values.store "postgres" }}
        - name: PLANT_STORE_DATABASE
          valueFrom:
            secretKeyRef:
              name: {{ .Values.postgres.secret | quote }}
              key: {{ .Values.postgres.key | quote }}
        {{- end }}
        {{- range $name, $value := .Values.settings }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      ports:
        - name: http
          containerPort: 8080
        - name: metrics
          containerPort: 9464
      # A start may build an index or wait for a database: ten minutes.
      startupProbe:
        httpGet:
          path: /livez
          port: http
        periodSeconds: 2
        failureThreshold: 300
      livenessProbe:
        httpGet:
          path: /livez
          port: http
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet:
          path: /readyz
          port: http
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - name: data
          mountPath: /data
  {{- if eq .Values.store "postgres" }}
  volumes:
    # Only for the first token of a new database.
    - name: data
      emptyDir:
        sizeLimit: 16Mi
  {{- end }}
{{- end }}
