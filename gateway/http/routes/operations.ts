import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../../metrics.ts'

/** Says whether the gateway can take calls. */
export interface Readiness {
  /** Why not; empty when it can. */
  reasons(): readonly string[]
}

/** What the routes for operators need. */
export interface OperationsParts {
  readonly metrics: Pick<Metrics, 'text' | 'registry'>
  readonly readiness: Readiness
}

/** `/healthz` (the process lives), `/readyz` (it can take calls, else 503 and why) and `/metrics` (Prometheus). */
export const operationsRoutes = (site: FastifyInstance, { metrics, readiness }: OperationsParts): void => {
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
  site.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.text()),
  )
}
