import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../../core/metrics.ts'

/** Says whether the gateway can take calls. */
export interface Readiness {
  /** Reasons for not being ready; empty if ready. */
  reasons(): readonly string[]
}

/** `/healthz` (the process lives) and `/readyz` (it can take calls, else 503 and why). */
export const healthRoutes = (site: FastifyInstance, readiness: Readiness): void => {
  site.get('/healthz', (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'alive' }),
  )
  site.get('/readyz', (_request, reply) => {
    const reasons = readiness.reasons()
    const ready = reasons.length === 0
    return reply
      .code(ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status: ready ? 'ready' : 'not ready', reasons })
  })
}

/** `/metrics` (Prometheus). It tells much of the business: not for listeners that the world can reach. */
export const metricsRoute = (site: FastifyInstance, metrics: Pick<Metrics, 'text' | 'registry'>): void => {
  site.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.text()),
  )
}
