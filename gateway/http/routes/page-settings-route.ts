import type { FastifyInstance } from 'fastify'

/** What the page is told. */
export interface PageSettings {
  readonly name: string
  /**
   * Public key with which browsers subscribe to push notifications (base64url); undefined where the gateway
   * sends none.
   */
  readonly applicationServerKey?: string | undefined
}

/** `GET /config.json`: what the page must know before anybody has signed in. */
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
