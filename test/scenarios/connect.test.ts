/** Connections of a caller to callees: screening, parallel and serial ringing, and the caller's departure. */
import { SignalWire, Voice } from 'realtime-api-4'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { agents } from '../support/agents.ts'
import { application, script } from '../support/applications.ts'
import { Carrier, type IncomingOptions } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

const callerTone = 440
const calleeTone = 600
const apiToken = 'token-of-the-scenario'

describe.each(agents)('connect, by $name', (agent) => {
  let gateway: Gateway
  let documents: DocumentServer
  let xml = ''
  let steps: readonly unknown[] = []

  beforeAll(async () => {
    documents = await DocumentServer.open()
    const scripted = () => JSON.stringify(script(...steps))
    gateway = await Gateway.start({
      agent,
      domains: [
        application('xml.test', { kind: 'xml', url: documents.put('/xml', () => xml) }),
        application('script.test', { kind: 'script', url: documents.put('/script', scripted) }),
      ],
      http: { apiToken },
    })
    documents.put('/accepted', '<Response/>')
    documents.put('/refused', '<Response><Hangup/></Response>')
    documents.put('/over', '<Response><Hangup/></Response>')
  })

  afterAll(async () => {
    await gateway?.stop()
    await documents?.close()
  })

  const caller = (
    domain: string,
    scenario = 'caller-released',
    holdMs: IncomingOptions['holdMs'] = 0,
  ): Promise<Carrier> => Carrier.calls(gateway, { domain, scenario, holdMs })

  /** Waits for the fields of the last action request. */
  const received = () =>
    until(
      'the action was asked for',
      () => documents.requests.findLast(({ path }) => path === '/over')?.fields,
    )

  const settled = async (...carriers: readonly Carrier[]) => {
    for (const carrier of carriers) await carrier.done()
    await gateway.settled()
    documents.requests.length = 0
  }

  describe('a callee’s confirmation', () => {
    const asking = (key: string) => {
      const action = documents.urlOf(key)
      return documents.put(
        '/ask',
        `<Response><Gather numDigits="1" action="${action}"><Say>Press a key to take the call.</Say></Gather><Hangup/></Response>`,
      )
    }

    it('keeps other callees ringing while pending, and connects the callee to the caller when given', async () => {
      const asked = await Carrier.listens({ scenario: 'callee-takes' })
      const rings = await Carrier.listens({ scenario: 'callee-cancelled' })
      const url = asking('/accepted')
      const over = documents.urlOf('/over')
      xml = `<Response><Dial action="${over}"><Sip url="${url}">${asked.uri}</Sip><Sip>${rings.uri}</Sip></Dial></Response>`
      const carrier = await caller('xml.test', 'call', 'manual')
      await carrier.talks('answered', callerTone)
      await asked.talks('invited', calleeTone)
      await asked.hearsVoice()
      expect(rings.sipp.events).not.toContain('cancelled')
      asked.media.press('1')
      await rings.sipp.event('cancelled')
      await asked.hears(callerTone)
      await carrier.hears(calleeTone)
      await carrier.goesOn()
      await settled(carrier, asked, rings)
    })

    it('that is refused counts as declined, and the next callee is called', async () => {
      const asked = await Carrier.listens({ scenario: 'callee-takes' })
      const next = await Carrier.listens({ scenario: 'callee-takes' })
      const over = documents.put('/next', `<Response><Dial><Sip>${next.uri}</Sip></Dial></Response>`)
      xml = `<Response><Dial action="${over}"><Sip url="${asking('/refused')}">${asked.uri}</Sip></Dial></Response>`
      const carrier = await caller('xml.test', 'call', 'manual')
      await carrier.talks('answered', callerTone)
      await asked.talks('invited', 0)
      await asked.hearsVoice()
      asked.media.press('2')
      await asked.sipp.event('bye')
      await next.talks('invited', calleeTone)
      await next.hears(callerTone)
      const { fields } = documents.requests.find(({ path }) => path === '/next')!
      expect(fields).toMatchObject({ DialCallStatus: 'busy' })
      await carrier.goesOn()
      await settled(carrier, asked, next)
    })

    it('that takes too long counts as no answer, and the next callee is called', async () => {
      const asked = await Carrier.listens({ scenario: 'callee-takes' })
      const next = await Carrier.listens({ scenario: 'callee-takes' })
      const serial = [{ to: asked.uri, confirm: [{ play: { url: 'silence:60' } }] }, { to: next.uri }]
      steps = [{ connect: { serial, confirm_timeout: 1 } }]
      const carrier = await caller('script.test', 'call', 'manual')
      await carrier.talks('answered', callerTone)
      await asked.sipp.event('bye')
      await next.talks('invited', calleeTone)
      await carrier.hears(calleeTone)
      await carrier.goesOn()
      await settled(carrier, asked, next)
    })
  })

  it('the caller’s * key hangs up the callee, who does not receive the key; the caller’s document continues', async () => {
    const callee = await Carrier.listens({ scenario: 'callee-takes' })
    const over = documents.urlOf('/over')
    xml = `<Response><Dial hangupOnStar="true" action="${over}"><Sip>${callee.uri}</Sip></Dial></Response>`
    const carrier = await caller('xml.test')
    await carrier.talks('answered', callerTone)
    await callee.talks('invited', calleeTone)
    await callee.hears(callerTone)
    carrier.media.press('7')
    await callee.receivesDigits('7')
    carrier.media.press('*')
    await callee.sipp.event('bye')
    expect(await received()).toMatchObject({ DialCallStatus: 'completed', CallStatus: 'in-progress' })
    await callee.receivesDigits('7')
    await settled(carrier, callee)
  })

  it('connect calls the next group when all callees of the first refuse, with the session timer of the destination', async () => {
    const busy = await Carrier.listens({ scenario: 'callee-declines', values: { status: 486 } })
    const gone = await Carrier.listens({ scenario: 'callee-rings-declines', values: { status: 480 } })
    const takes = await Carrier.listens({ scenario: 'callee-takes' })
    const together = [{ to: busy.uri }, { to: gone.uri }]
    steps = [{ connect: { serial_parallel: [together, [{ to: takes.uri, session_timeout: 300 }]] } }]
    const carrier = await caller('script.test', 'call', 'manual')
    await carrier.talks('answered', callerTone)
    await takes.hears(callerTone)
    const invite = takes.sipp.received('INVITE')[0] ?? ''
    expect(headerOf(invite, 'Session-Expires')).toMatch(/^300\b/)
    // Without `session_timeout`, the gateway requests no session interval from an agent with its own timers.
    expect(headerOf(busy.sipp.received('INVITE')[0] ?? '', 'Session-Expires') ?? '').not.toMatch(/^300\b/)
    await carrier.goesOn()
    await settled(carrier, busy, gone, takes)
  })

  it('a caller who cancels also cancels all ringing callees', async () => {
    const one = await Carrier.listens({ scenario: 'callee-cancelled' })
    const two = await Carrier.listens({ scenario: 'callee-cancelled' })
    steps = [{ connect: { parallel: [{ to: one.uri }, { to: two.uri }], answer_on_bridge: true } }]
    const carrier = await caller('script.test', 'caller-cancels', 500)
    await settled(carrier, one, two)
    const legs = (await gateway.record(carrier.callId)).legs as readonly { code: string }[]
    expect(legs.map(({ code }) => code)).toEqual(['canceled', 'canceled', 'canceled'])
  })

  it('a caller in a queue is connected, and continues with the action of its own document afterwards', async () => {
    xml = `<Response><Enqueue action="${documents.urlOf('/over')}">support</Enqueue></Response>`
    const waits = await caller('xml.test')
    await waits.talks('answered', calleeTone)
    await until(
      'a caller waits',
      () => gateway.metric('queue_waiting'),
      (waiting) => waiting === 1,
    )
    xml = '<Response><Dial><Queue>support</Queue></Dial></Response>'
    const takes = await caller('xml.test', 'call', 'manual')
    await takes.talks('answered', callerTone)
    await waits.hears(callerTone)
    await takes.hears(calleeTone)
    await takes.goesOn()
    expect(await received()).toMatchObject({ QueueResult: 'bridged', CallStatus: 'in-progress' })
    await settled(waits, takes)
  })

  describe('a realtime application’s dial to several destinations', () => {
    const dial = async (...destinations: readonly Carrier[]) => {
      const host = `ws://127.0.0.1:${gateway.httpPort}`
      const client = await SignalWire({ project: 'default', token: apiToken, host, logLevel: 'silent' })
      onTestFinished(() => void client.disconnect())
      const from = 'sip:me@office.test'
      const devices = destinations.map(({ uri }) => Voice.DeviceBuilder.Sip({ from, to: uri, timeout: 10 }))
      return client.voice.dial({ region: 'eu', devices: new Voice.DeviceBuilder().add(devices) })
    }

    it('connects the first destination that answers, and cancels the others', async () => {
      const rings = await Carrier.listens({ scenario: 'callee-cancelled' })
      const takes = await Carrier.listens({ scenario: 'callee-hangs-up', holdMs: 'manual' })
      const call = await dial(rings, takes)
      await rings.sipp.event('cancelled')
      expect([call.direction, call.to]).toEqual(['outbound', takes.uri])
      await takes.talks('invited', 0)
      const playing = call.playTTS({ text: 'Good morning.' })
      await takes.hearsVoice()
      await playing
      await takes.goesOn()
      await settled(takes, rings)
      for (const carrier of [rings, takes]) {
        const record = await gateway.record(carrier.callId)
        expect([record.direction, (record.legs as unknown[]).length]).toEqual(['outbound', 1])
      }
    })

    it('rejects with the reason when all destinations refuse', async () => {
      const busy = await Carrier.listens({ scenario: 'callee-declines', values: { status: 486 } })
      const gone = await Carrier.listens({ scenario: 'callee-declines', values: { status: 503 } })
      await expect(dial(busy, gone)).rejects.toMatchObject({ reason: 'busy' })
      await settled(busy, gone)
      expect((await gateway.record(busy.callId)).code).toBe('busy')
    })
  })
})
