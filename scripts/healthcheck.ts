/** For the container's health check: ends with 0 when the gateway says that it is healthy. `TRUNKLINE_HEALTH` is the URL to ask. */
const url = process.env.TRUNKLINE_HEALTH ?? 'http://127.0.0.1:8080/healthz'

const healthy = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
  ({ ok }) => ok,
  () => false,
)
process.exit(healthy ? 0 : 1)
