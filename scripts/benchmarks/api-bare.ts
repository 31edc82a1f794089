/** Bare Fastify route as the reference of `scripts/bench api`. Prints its port. */
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'

const site = fastify()
const schema = {
  response: { 200: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } } },
} as const
site.get('/things/:id', { schema }, async () => ({ id: 'x', name: 'y' }))
await site.listen({ host: '127.0.0.1', port: 0 })
console.log((site.server.address() as AddressInfo).port)
