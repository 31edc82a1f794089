import { describe, expect, it } from 'vitest'
import type { HandlerSource, ResourceType } from '../../../directory/model/resource-types.ts'
import { type HandlerFields, handlerFields } from './handler-fields.ts'
import { readHandler } from './handler-reader.ts'

const types: Readonly<Record<string, ResourceType>> = {
  flow: 'call_flow',
  room: 'room',
  script: 'swml_script',
  xml: 'cxml_webhook',
  alice: 'subscriber',
  app: 'relay_application',
}
const typeOf = (id: string) => types[id]
const resources = {
  find: (_project: string, _type: unknown, id: string) => types[id] && { type: types[id] },
} as never

const read = (given: Partial<HandlerFields>, present?: HandlerFields) => readHandler(given, present, typeOf)
const shown = (handler?: HandlerSource, statusCallback?: { url: string; method: 'GET' | 'POST' }) =>
  handlerFields({ projectId: 'p1', handler, statusCallback }, resources)

const url = 'https://app.example/a'

describe('handler fields of a body', () => {
  it.each<[Partial<HandlerFields>, HandlerSource]>([
    [
      { call_handler: 'laml_webhooks', call_request_url: url, call_fallback_url: `${url}/f` },
      { kind: 'xml', url, method: 'POST', fallbackUrl: `${url}/f`, fallbackMethod: 'POST' },
    ],
    [
      { call_handler: 'laml_webhooks', call_request_url: url, call_request_method: 'GET' },
      { kind: 'xml', url, method: 'GET' },
    ],
    [
      { call_handler: 'relay_script', call_relay_script_url: url },
      { kind: 'script', url },
    ],
    [
      { call_handler: 'call_flow', call_flow_id: 'flow' },
      { kind: 'resource', resourceId: 'flow', version: 'working_copy' },
    ],
    [
      { call_handler: 'call_flow', call_flow_id: 'flow', call_flow_version: 'current_deployed' },
      { kind: 'resource', resourceId: 'flow', version: 'current_deployed' },
    ],
    [
      { call_handler: 'relay_topic', call_relay_topic: 'home' },
      { kind: 'realtime', topic: 'home' },
    ],
    [
      { call_handler: 'relay_context', call_relay_context: 'home' },
      { kind: 'realtime', topic: 'home' },
    ],
    [
      { call_handler: 'relay_application', call_relay_application: 'app' },
      { kind: 'resource', resourceId: 'app' },
    ],
    [
      { call_handler: 'laml_application', call_laml_application_id: 'xml' },
      { kind: 'resource', resourceId: 'xml' },
    ],
    [
      { call_handler: 'video_room', call_video_room_id: 'room' },
      { kind: 'resource', resourceId: 'room' },
    ],
    [{ calling_handler_resource_id: 'script' }, { kind: 'resource', resourceId: 'script' }],
    [{ calling_handler_resource_id: 'alice' }, { kind: 'resource', resourceId: 'alice' }],
  ])('is read and shown again: %j', (given, handler) => {
    const made = read(given)
    expect(made?.handler).toEqual(handler)
    const body = shown(made?.handler ?? undefined)
    const word = given.call_handler === 'relay_context' ? 'relay_topic' : given.call_handler
    expect(body).toMatchObject({ ...given, ...(word && { call_handler: word }) })
    // What was shown may be sent back, and changes nothing.
    expect(read(body, body)?.handler).toEqual(handler)
    expect(read(body)?.handler).toEqual(handler)
  })

  it.each<[Partial<HandlerFields>, string]>([
    [{ call_handler: 'laml_webhooks' }, 'call_request_url'],
    [{ call_handler: 'relay_script' }, 'call_relay_script_url'],
    [{ call_handler: 'call_flow' }, 'call_flow_id'],
    [{ call_handler: 'call_flow', call_flow_id: 'room' }, 'call_flow_id'],
    [{ call_handler: 'call_flow', call_flow_id: 'elsewhere' }, 'call_flow_id'],
    [{ call_handler: 'video_room', calling_handler_resource_id: 'flow' }, 'call_video_room_id'],
    [{ call_handler: 'relay_topic' }, 'call_relay_topic'],
    [{ call_handler: 'ai_agent', call_ai_agent_id: 'room' }, 'call_ai_agent_id'],
    [{ call_request_url: url }, 'call_handler'],
    [{ calling_handler_resource_id: 'elsewhere' }, 'calling_handler_resource_id'],
  ])('names the field at fault: %j', (given, attribute) => {
    expect(() => read(given)).toThrow(
      expect.objectContaining({ code: 'invalid_field', facts: { attribute } }),
    )
  })

  it('change nothing if absent', () => {
    expect(read({}, shown({ kind: 'realtime', topic: 'home' }))).toBeUndefined()
  })

  it('change what they name, and nothing else', () => {
    const present = shown({ kind: 'xml', url, method: 'GET', fallbackUrl: `${url}/f` })
    expect(read({ call_request_url: `${url}2` }, present)?.handler).toEqual({
      kind: 'xml',
      url: `${url}2`,
      method: 'GET',
      fallbackUrl: `${url}/f`,
      fallbackMethod: 'GET',
    })
    expect(read({ call_fallback_url: null }, present)?.handler).toEqual({ kind: 'xml', url, method: 'GET' })
    const flow = shown({ kind: 'resource', resourceId: 'flow', version: 'working_copy' })
    expect(read({ call_flow_version: 'current_deployed' }, flow)?.handler).toEqual({
      kind: 'resource',
      resourceId: 'flow',
      version: 'current_deployed',
    })
  })

  it('do not keep the target of another handler, and remove the handler by null', () => {
    const present = shown({ kind: 'resource', resourceId: 'flow', version: 'working_copy' })
    expect(() => read({ call_handler: 'video_room' }, present)).toThrow('call_video_room_id')
    expect(read({ calling_handler_resource_id: 'room' }, present)?.handler).toEqual({
      kind: 'resource',
      resourceId: 'room',
    })
    expect(read({ call_handler: null }, present)).toEqual({ handler: null, statusCallback: null })
  })

  it('keep the status callback in the fields of its kind', () => {
    const handled = read({
      call_handler: 'relay_topic',
      call_relay_topic: 'home',
      call_relay_topic_status_callback_url: url,
    })
    expect(handled?.statusCallback).toEqual({ url, method: 'POST' })
    expect(shown(handled?.handler ?? undefined, { url, method: 'POST' })).toMatchObject({
      call_relay_topic_status_callback_url: url,
    })
    const present = shown({ kind: 'realtime', topic: 'home' }, { url, method: 'POST' })
    expect(read({ call_relay_topic: 'office' }, present)?.statusCallback).toEqual({ url, method: 'POST' })
    expect(read({ call_relay_topic_status_callback_url: null }, present)?.statusCallback).toBeNull()
    expect(read({ call_status_callback_url: url, call_status_callback_method: 'GET' })).toEqual({
      handler: null,
      statusCallback: { url, method: 'GET' },
    })
  })

  it('show only the id of a removed resource', () => {
    expect(shown({ kind: 'resource', resourceId: 'gone' })).toMatchObject({
      call_handler: null,
      calling_handler_resource_id: 'gone',
    })
  })
})
