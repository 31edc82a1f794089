/** Health check of the container: exits with 0 if the gateway is healthy. `TRUNKLINE_HEALTH` is its URL. */
const url = process.env.TRUNKLINE_HEALTH ?? 'http://127.0.0.1:8080/healthz'

const isHealthy = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
  ({ ok }) => ok,
  () => false,
)
process.exit(isHealthy ? 0 : 1)
