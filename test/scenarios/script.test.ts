// biome-ignore-all lint/suspicious/noThenProperty: it is the language's name
/**
 * Script documents of a customer's server: expressions, requests, sections, queues, conferences and events.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { application } from '../support/applications.ts'
import { Carrier, type IncomingOptions } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const oneTone = 440
const otherTone = 600

let gateway: Gateway
let documents: DocumentServer
/** Sections of the scripts of one.test and other.test. */
let one: object = {}
let other: object = {}

beforeAll(async () => {
  documents = await DocumentServer.open()
  const served = (sections: () => object) => () => JSON.stringify({ version: '1.0.0', sections: sections() })
  gateway = await Gateway.start({
    envs: { region: 'north' },
    domains: [
      application('one.test', {
        kind: 'script',
        url: documents.put(
          '/one',
          served(() => one),
        ),
      }),
      application('other.test', {
        kind: 'script',
        url: documents.put(
          '/other',
          served(() => other),
        ),
      }),
    ],
  })
  documents.put('/callback', '')
})

afterAll(async () => {
  await gateway?.stop()
  await documents?.close()
})

const caller = (domain: string, scenario: string, holdMs: IncomingOptions['holdMs'] = 0): Promise<Carrier> =>
  Carrier.calls(gateway, { domain, scenario, holdMs })

/** Waits for this number of events, and returns them. */
const events = async (count: number) => {
  const requests = await until(
    `${count} events`,
    () => documents.asked('/callback'),
    ({ length }) => length >= count,
  )
  return requests.map(({ body }) => JSON.parse(body))
}

const settled = async (...carriers: readonly Carrier[]) => {
  for (const carrier of carriers) await carrier.done()
  await gateway.settled()
}

const status_url = () => documents.urlOf('/callback')

it('a script requests data, evaluates expressions, collects a digit, and connects to a callee who confirms', async () => {
  documents.requests.length = 0
  const callee = await Carrier.listens({ scenario: 'callee-hangs-up', holdMs: 'manual' })
  documents.put('/customers', '{"name":"Ann","agents":[{"key":"7"},{"key":"4"}]}')
  const uri = callee.uri
  documents.put(
    '/menu',
    JSON.stringify({
      sections: {
        main: [
          {
            prompt: {
              play: 'say:Press %{params.agents.map((a) => a.key).join(" or ")}.',
              max_digits: 1,
              status_url: status_url(),
            },
          },
          { return: '%{params.agents.findIndex((a) => a.key === prompt_value)}' },
        ],
      },
    }),
  )
  one = {
    main: [
      {
        request: {
          url: `${documents.urlOf('/customers')}?region=%{envs.region}`,
          method: 'GET',
          save_variables: true,
        },
      },
      {
        execute: {
          dest: documents.urlOf('/menu'),
          params: { agents: '%{request_response.agents}' },
          result: {
            case: {
              1: [
                { transfer: { dest: 'agent', params: { name: '%{request_response.name.toUpperCase()}' } } },
              ],
            },
            default: ['hangup'],
          },
        },
      },
    ],
    agent: [
      {
        connect: {
          to: uri,
          headers: [{ name: 'X-Name', value: '%{params.name}%2C%20%{call.call_id.length > 0}' }],
          confirm: [
            { prompt: { play: 'say:Press one.' } },
            { cond: [{ when: "prompt_value !== '1'", then: ['hangup'] }] },
          ],
          status_url: status_url(),
          result: { case: { connected: [{ play: { url: 'say:Thank you, good bye.' } }] } },
        },
      },
    ],
  }
  const carrier = await caller('one.test', 'caller-released')
  await carrier.talks('answered', oneTone)
  await carrier.hearsVoice()
  carrier.media.press('4')
  await callee.talks('invited', otherTone)
  await callee.hearsVoice()
  callee.media.press('1')
  await carrier.hears(otherTone)
  await callee.hears(oneTone)
  await callee.goesOn()
  await settled(callee, carrier)
  const [first] = documents.asked('/one')
  expect(JSON.parse(first!.body)).toMatchObject({
    call: { call_state: 'created', direction: 'inbound', type: 'sip' },
    vars: {},
    envs: { region: 'north' },
    params: {},
  })
  expect(documents.asked('/customers')[0]?.fields).toEqual({ region: 'north' })
  expect(JSON.parse(documents.asked('/menu')[0]!.body)).toMatchObject({
    vars: { request_result: 'success', request_response_code: 200 },
    params: { agents: [{ key: '7' }, { key: '4' }] },
  })
  expect(callee.sipp.received('INVITE')[0]).toContain('X-Name: ANN, true')
  const received = await events(5)
  expect(
    received.map(({ event_type, params }) => [event_type, params.connect_state ?? params.result.type]),
  ).toEqual([
    ['calling.call.collect', 'start_of_input'],
    ['calling.call.collect', 'digit'],
    ['calling.call.connect', 'connecting'],
    ['calling.call.connect', 'connected'],
    ['calling.call.connect', 'disconnected'],
  ])
})

it('a caller in a queue hears the waiting sound and talks to an agent; both scripts continue afterwards', async () => {
  documents.requests.length = 0
  one = {
    main: [
      {
        enter_queue: {
          queue_name: 'sales',
          transfer_after_bridge: 'after',
          wait_url: 'say:You will be served soon.',
          status_url: status_url(),
        },
      },
    ],
    after: [
      {
        request: {
          url: documents.put('/over', '{}'),
          method: 'POST',
          body: { result: '%{queue_result}', position: '%{entry_position}' },
        },
      },
    ],
  }
  other = { main: [{ connect: { to: 'queue:sales', transfer_after_bridge: 'main' } }] }
  const waiting = await caller('one.test', 'caller-released')
  await waiting.talks('answered', oneTone)
  await waiting.hearsVoice()
  const agent = await caller('other.test', 'call', 'manual')
  await agent.talks('answered', otherTone)
  await waiting.hears(otherTone)
  await agent.hears(oneTone)
  await agent.goesOn()
  await settled(agent, waiting)
  expect(JSON.parse(documents.asked('/over')[0]!.body)).toEqual({ result: 'connected', position: 1 })
  expect((await events(2)).map(({ params: { status } }) => status)).toEqual(['enqueue', 'dequeue'])
})

it('join_conference runs a script for waiting callers, reports events, and continues by its result', async () => {
  documents.requests.length = 0
  const wait_url = documents.put(
    '/wait',
    '{"sections":{"main":[{"play":{"url":"say:The others are not here yet."}}]}}',
  )
  const result = {
    case: { completed: [{ request: { url: documents.put('/over', '{}'), method: 'POST', body: 'over' } }] },
  }
  one = {
    main: [
      {
        join_conference: {
          name: 'team',
          start_on_enter: false,
          wait_url,
          status_callback: status_url(),
          status_callback_event: 'start end join leave',
          result,
        },
      },
    ],
  }
  other = { main: [{ join_conference: { name: 'team', end_on_exit: true, beep: false } }] }
  const waits = await caller('one.test', 'caller-released')
  await waits.talks('answered', oneTone)
  await waits.hearsVoice()
  const starts = await caller('other.test', 'call', 'manual')
  await starts.talks('answered', otherTone)
  await waits.hears(otherTone)
  await starts.hears(oneTone)
  await starts.goesOn()
  await settled(starts, waits)
  expect(documents.asked('/over')).toHaveLength(1)
  const received = await events(6)
  expect(received.map(({ event_type, params: { status } }) => `${event_type} ${status}`)).toEqual(
    [
      'participant-join',
      'participant-join',
      'conference-start',
      'participant-leave',
      'participant-leave',
      'conference-end',
    ].map((status) => `calling.conference ${status}`),
  )
})
