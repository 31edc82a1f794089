import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { faultOf } from './request-faults.ts'

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    command: { type: 'string', enum: ['dial', 'update', 'calling.play'] },
    primary_request_url: { type: 'string' },
  },
}

/** Returns the messages for a body, as Fastify reports its validation. */
const messagesOf = (body: object): readonly string[] => {
  const ajv = new Ajv({ allErrors: true, verbose: true })
  ajv.validate(schema, body)
  const error = Object.assign(new Error(), { validation: ajv.errors, validationContext: 'body' })
  return faultOf(error as never).all.map(({ message }) => message)
}

describe('a destination that cannot be called', () => {
  it.each(['unknown_address', 'no_carrier'] as const)(
    'has 422 for %s in a field of a call, and else 404',
    (code) => {
      const inField = faultOf(new TrunklineError(code, undefined, { attribute: 'to' }))
      expect(inField).toMatchObject({ code, status: 422, attribute: 'to' })
      const ofChat = faultOf(new TrunklineError(code, undefined, { attribute: 'conversation_id' }))
      expect(ofChat.status).toBe(404)
      expect(faultOf(new TrunklineError(code))).toMatchObject({ code, status: 404, attribute: null })
    },
  )
})

describe('a message', () => {
  it.each([
    [
      { primary_request_uri: 'x' },
      'Unknown field `primary_request_uri`. Did you mean `primary_request_url`?',
    ],
    [{ colour: 'x' }, 'Unknown field `colour`.'],
    [
      { command: 'dail' },
      'Unknown command `dail`. Did you mean `dial`? It must be one of: dial, update, calling.play.',
    ],
    [{ command: 'sing' }, 'command must be one of: dial, update, calling.play.'],
    [{ command: 5 }, 'command must be one of: dial, update, calling.play.'],
  ])('for %j suggests the right name', (body, message) => {
    expect(messagesOf(body)).toContain(message)
  })
})
