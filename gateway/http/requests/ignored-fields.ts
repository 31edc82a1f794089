import type { FastifyInstance } from 'fastify'
import type { Log } from '../../core/log.ts'

/** Properties of a body schema that mark an accepted field as having no effect. */
export const noEffect = { 'x-no-effect': true, description: 'Accepted without effect.' } as const

/** Logs the names of body fields without effect, for requests to routes that are added later. */
export const useIgnoredFields = (site: FastifyInstance, log: Pick<Log, 'debug'>): void => {
  site.addHook('preHandler', async (request) => {
    const { properties = {} } = (request.routeOptions.schema?.body ?? {}) as BodySchema
    const fields = Object.keys(request.body ?? {}).filter((name) => properties[name]?.['x-no-effect'])
    if (fields.length > 0) log.debug({ request: request.id, fields }, 'fields without effect')
  })
}

interface BodySchema {
  readonly properties?: Readonly<Record<string, { readonly 'x-no-effect'?: boolean }>>
}
