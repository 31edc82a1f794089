import { byProject, bySubscriber } from '../../requests/openapi.ts'

/** Returns the description of a route for projects (Basic authentication). */
export const forProjects = (tag: string, operationId: string, summary: string) => ({
  operationId,
  tags: [tag],
  summary,
  security: [...byProject],
})

/** Returns the description of a route for holders of a subscriber access token. */
export const forSubscribers = (tag: string, operationId: string, summary: string) => ({
  operationId,
  tags: [tag],
  summary,
  security: [...bySubscriber],
})

/**
 * Path parameters of a route with one id. A malformed id is reported as an unknown resource, not as an
 * invalid field.
 */
export const idParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' } },
} as const

/** Schema of a list as {@link listBody} returns it. */
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

/** Schema of a response without a body. */
export const emptyBody = { type: 'null', description: 'Done.' } as const
