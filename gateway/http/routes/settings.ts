import type { FastifyInstance } from 'fastify'

/** `GET /config.json`: what the page must know before anybody has signed in. */
export const settingsRoute = (site: FastifyInstance, name: string): void => {
  site.get('/config.json', (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ name, websocket_path: '/', api_path: '/api' }),
  )
}
