import type { FastifySchema } from 'fastify'
import { byProject, bySubscriber } from '../../requests/openapi.ts'

/** A route for projects (Basic auth). */
export const forProjects = (tag: string, operationId: string, summary: string): FastifySchema => ({
  operationId,
  tags: [tag],
  summary,
  security: [...byProject],
})

/** A route for who holds a subscriber access token. */
export const forSubscribers = (tag: string, operationId: string, summary: string): FastifySchema => ({
  operationId,
  tags: [tag],
  summary,
  security: [...bySubscriber],
})

/** Parameters of a path with one id. What is no id is unknown, not malformed. */
export const idParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' } },
} as const

/** A list as {@link listBody} makes it. */
export const listSchema = (item: object) => ({
  type: 'object',
  required: ['data', 'links'],
  properties: {
    data: { type: 'array', items: item },
    links: {
      type: 'object',
      properties: {
        self: { type: 'string' },
        first: { type: 'string' },
        next: { type: 'string' },
        prev: { type: 'string' },
      },
    },
  },
})

/** An answer without a body. */
export const emptyBody = { type: 'null', description: 'Done.' } as const
