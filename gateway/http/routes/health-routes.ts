import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../../core/metrics.ts'

/** State of the gateway for `/readyz`. */
export interface Readiness {
  /** Reasons for not being ready; empty if ready. */
  reasons(): readonly string[]
}

/**
 * `/healthz` (the process runs) and `/readyz` (the gateway accepts calls; otherwise 503 with the reasons).
 */
export const healthRoutes = (site: FastifyInstance, readiness: Readiness): void => {
  site.get('/healthz', (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'alive' }),
  )
  site.get('/readyz', (_request, reply) => {
    const reasons = readiness.reasons()
    const isReady = reasons.length === 0
    return reply
      .code(isReady ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status: isReady ? 'ready' : 'not ready', reasons })
  })
}

/**
 * `/metrics` for Prometheus. Metrics reveal much about the business, so public listeners do not serve them.
 */
export const metricsRoute = (site: FastifyInstance, metrics: Pick<Metrics, 'text' | 'registry'>): void => {
  site.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.text()),
  )
}
