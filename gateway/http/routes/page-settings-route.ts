import type { FastifyInstance } from 'fastify'

/** Settings of the page. */
export interface PageSettings {
  readonly name: string
  /**
   * Public key with which browsers subscribe to push notifications (base64url); undefined where the gateway
   * sends none.
   */
  readonly applicationServerKey?: string | undefined
}

/** `GET /config.json`: settings that the page needs before the sign-in. */
export const settingsRoute = (site: FastifyInstance, settings: PageSettings): void => {
  site.get('/config.json', (_request, reply) => {
    const { name, applicationServerKey } = settings
    return reply.header('cache-control', 'no-store').send({
      name,
      websocket_path: '/',
      api_path: '/api',
      push: applicationServerKey ? { application_server_key: applicationServerKey } : null,
    })
  })
}
