import type { FastifyInstance } from 'fastify'

/**
 * `GET /config.json`: settings that the softphone needs before the sign-in. `applicationServerKey` returns
 * the public key of Web Push in base64url; undefined if the gateway sends no notifications.
 */
export const settingsRoute = (
  site: FastifyInstance,
  name: string,
  applicationServerKey: () => string | undefined,
): void => {
  site.get('/config.json', (_request, reply) => {
    const key = applicationServerKey()
    return reply.header('cache-control', 'no-store').send({
      name,
      websocket_path: '/',
      api_path: '/api',
      push: key ? { application_server_key: key } : null,
    })
  })
}
