import { describe, expect, it } from 'vitest'
import { DocumentUnreachable } from '../../handler.ts'
import { FakeCall, testCallee } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { fieldsOf, root, runXml } from '../../testing/run-xml.ts'
import type { CalleeState, ConnectOptions, Destination } from '../../verbs.ts'

/** Runs `Dial` with the nouns. Returns the callees, the ids in their headers, and the warnings. */
const calleesOf = async (nouns: string) => {
  const { call, context } = await runXml(`<Dial>${nouns}</Dial>`)
  const options = call.verbs.find(([name]) => name === 'connect')?.[1] as ConnectOptions | undefined
  const callees = (options?.steps[0] ?? []).map(({ headersFor, ...callee }) => callee)
  const ids = options?.steps[0]?.map(({ headersFor }) => headersFor?.('c-2')) ?? []
  return { callees, ids, warnings: context.warnings }
}

describe('Sip', () => {
  it('takes credentials, transport, and URL headers that become X- headers', async () => {
    const { callees } = await calleesOf(
      '<Sip username="u" password="p">sip:100@carrier.example:5080;transport=tcp?X-Id=a%2Bb&amp;tag=7</Sip>',
    )
    expect(callees).toEqual([
      {
        to: 'sip:100@carrier.example:5080;transport=tcp',
        username: 'u',
        password: 'p',
        headers: [
          { name: 'X-Id', value: 'a+b' },
          { name: 'X-tag', value: '7' },
        ],
      },
    ])
  })

  it.each([
    ['User-to-User=0123abCD%3Bencoding%3Dhex', '0123abCD;encoding=hex'],
    [
      'user-to-user=%22a%20b%22%3Bpurpose%3Disdn-uui%3Bcontent%3D%22x%22',
      '"a b";purpose=isdn-uui;content="x"',
    ],
  ])('passes on the User-to-User value under its own name: %s', async (query, value) => {
    const { callees, warnings } = await calleesOf(`<Sip>sip:a@b.example?X-Id=7&amp;${query}</Sip>`)
    expect(callees).toEqual([
      {
        to: 'sip:a@b.example',
        headers: [
          { name: 'X-Id', value: '7' },
          { name: 'User-to-User', value },
        ],
      },
    ])
    expect(warnings).toEqual([])
  })

  it.each(['', 'a%20b', '%22open', 'a%3B', 'a%2C%20b', 'a%0D%0AVia%3A%20x'])(
    'drops an invalid User-to-User with warning 32110: %j',
    async (value) => {
      const { callees, warnings } = await calleesOf(
        `<Sip>sip:a@b.example?User-to-User=${value}&amp;X-Id=7</Sip>`,
      )
      expect(callees).toEqual([{ to: 'sip:a@b.example', headers: [{ name: 'X-Id', value: '7' }] }])
      expect(warnings).toMatchObject([{ code: '32110', path: '/Response/Dial[1]/Sip[1]' }])
    },
  )

  it('adds the ids of call and project to the INVITE, regardless of the URL headers', async () => {
    const { callees, ids, warnings } = await calleesOf(
      '<Sip>sip:a@b.example?X-CallSid=c-9&amp;accountsid=p-9&amp;ApiVersion=9&amp;CallSids=7</Sip><Number>+15550003</Number>',
    )
    expect(callees[0]).toEqual({ to: 'sip:a@b.example', headers: [{ name: 'X-CallSids', value: '7' }] })
    expect(ids).toEqual([
      [
        { name: 'X-CallSid', value: 'c-2' },
        { name: 'X-AccountSid', value: 'demo' },
        { name: 'X-ApiVersion', value: '2010-04-01' },
      ],
      undefined,
    ])
    expect(warnings).toMatchObject([{ code: '32110', path: '/Response/Dial[1]/Sip[1]' }])
  })

  it('takes codecs and sessionTimeout', async () => {
    const { callees, warnings } = await calleesOf(
      '<Sip codecs="OPUS,pcmu,G729" sessionTimeout="120">sip:a@b.example</Sip>',
    )
    expect(callees).toEqual([{ to: 'sip:a@b.example', codecs: ['opus', 'PCMU'], sessionTimerSeconds: 120 }])
    expect(warnings).toEqual([])
  })

  it.each([
    ['no SIP URI', 'carrier.example'],
    ['a line break in a URL header', 'sip:a@b?X-A=1%0d%0aVia:x'],
    ['a header that is the gateway’s own', 'sip:a@b?X-A=1&amp;%3A=2'],
  ])('is not called with %s, with warning 32110', async (_what, uri) => {
    const { callees, warnings } = await calleesOf(`<Sip>${uri}</Sip>`)
    expect(callees).toEqual([])
    expect(warnings).toMatchObject([{ code: '32110', path: '/Response/Dial[1]/Sip[1]', line: 1 }])
  })

  it('never shows its own text in messages', async () => {
    const { warnings } = await calleesOf('<Sip password="pa55">sip:u:pa55@ b</Sip>')
    expect(warnings).toHaveLength(1)
    expect(JSON.stringify(warnings)).not.toContain('pa55')
  })
})

describe('Client', () => {
  it('is a subscriber by name, or by address, or by Identity', async () => {
    const { callees } = await calleesOf(
      '<Client>alice</Client><Client>/private/bob</Client><Client><Identity>carol</Identity></Client>',
    )
    expect(callees.map(({ to }) => to)).toEqual(['/public/alice', '/private/bob', '/public/carol'])
  })

  it('sends its Parameters to the browser by name and value', async () => {
    const { callees, warnings } = await calleesOf(
      '<Client><Identity>alice</Identity><Parameter name="order" value="42"/><Parameter name="vip"/></Client><Client>bob<Parameter value="1"/></Client>',
    )
    expect(callees).toEqual([
      { to: '/public/alice', userVariables: { order: '42', vip: '' } },
      { to: '/public/bob' },
    ])
    expect(warnings).toMatchObject([{ code: '12200', path: '/Response/Dial[1]/Client[2]/Parameter[1]' }])
  })

  it('sends none of its Parameters if they are too long', async () => {
    const long = `<Client>alice<Parameter name="a" value="${'x'.repeat(2_048)}"/></Client>`
    const { callees, warnings } = await calleesOf(long)
    expect(callees).toEqual([{ to: '/public/alice' }])
    expect(warnings).toMatchObject([{ code: '12200', path: '/Response/Dial[1]/Client[1]' }])
  })

  it('is not called without a valid name, with a warning', async () => {
    const { callees, warnings } = await calleesOf('<Client>a b</Client>')
    expect(callees).toEqual([])
    expect(warnings).toMatchObject([{ code: '12200', path: '/Response/Dial[1]/Client[1]' }])
  })
})

describe('Verto', () => {
  it('is a subscriber by name, at a host name of the gateway', async () => {
    const { callees, warnings } = await calleesOf(
      '<Verto>alice@GW.example</Verto><Verto>sip:bob@verto.gw.example</Verto><Verto>carol@gw.verto.example</Verto>',
    )
    expect(callees).toEqual([{ to: '/public/alice' }, { to: '/public/bob' }, { to: '/public/carol' }])
    expect(warnings).toEqual([])
  })

  it.each([
    'alice@elsewhere.example',
    'alice',
    '@gw.example',
    'a/b@gw.example',
    'alice@gw.example.evil.example',
  ])('is not called for %s, with a warning', async (text) => {
    const { callees, warnings } = await calleesOf(`<Verto>${text}</Verto>`)
    expect(callees).toEqual([])
    expect(warnings).toMatchObject([{ code: '12200' }])
  })
})

describe('the text of Dial', () => {
  it.each([
    ['+1 555-0003', '+15550003'],
    ['/private/echo', '/private/echo'],
    ['/public/menu?channel=audio', '/public/menu?channel=audio'],
  ])('%s is called', async (text, to) => {
    const { callees, warnings } = await calleesOf(text)
    expect([callees, warnings]).toEqual([[{ to }], []])
  })

  it.each(['/menu', 'menu', '/a/b/c'])('%s is not called, with warning 13223', async (text) => {
    const { callees, warnings } = await calleesOf(text)
    expect(callees).toEqual([])
    expect(warnings).toMatchObject([{ code: '13223', path: '/Response/Dial[1]' }])
  })
})

describe('Number', () => {
  it('is a phone number, and sends sendDigits', async () => {
    const { callees } = await calleesOf('<Number sendDigits="ww1#">+1 555-0003</Number>')
    expect(callees).toEqual([{ to: '+15550003', sendDigits: 'ww1#' }])
  })

  it('is not called if invalid, with warning 13223', async () => {
    const { callees, warnings } = await calleesOf('<Number>me</Number>')
    expect(callees).toEqual([])
    expect(warnings).toMatchObject([{ code: '13223', path: '/Response/Dial[1]/Number[1]' }])
  })
})

/** Runs the document, and an action on the callee during the call. */
const meanwhile = async (
  noun: string,
  act: (destination: Destination) => unknown,
  context = new FakeContext(),
) => {
  const call = new FakeCall()
  call.during.set('connect', ({ steps }: ConnectOptions) => act(steps[0]![0]!))
  await runXml(`<Dial>${noun}</Dial>`, { call, context })
  return { call, context }
}

describe.each(['Sip', 'Number', 'Client'])('the url of %s', (name) => {
  const noun = (attributes: string) => {
    const content = { Sip: 'sip:a@b.example', Number: '+15550003', Client: 'alice' }[name]
    return `<${name} url="${root}/whisper" ${attributes}>${content}</${name}>`
  }

  it('is a document that runs for the callee', async () => {
    const whisper = '<Response><Say>A call for you</Say><Dial>1</Dial></Response>'
    const context = new FakeContext({ [`${root}/whisper`]: whisper })
    const callee = new FakeCall({ callId: 'c-2', direction: 'outbound', headers: [], fromName: '' })
    callee.isAnswered = true
    const confirm = ({ confirm, onState }: Destination) => {
      onState?.({ kind: 'answered', callee: testCallee })
      return confirm?.(callee)
    }
    const { call } = await meanwhile(noun('method="GET"'), confirm, context)
    expect(callee.names).toEqual(['play'])
    expect(call.names).toEqual(['connect'])
    expect(context.requests).toMatchObject([{ method: 'GET' }])
    expect(context.fields(0)).toMatchObject({
      CallSid: 'c-2',
      ParentCallSid: 'c-1',
      Direction: 'outbound-dial',
      CallStatus: 'in-progress',
      SipCallId: 'sip-2',
    })
    expect(context.warnings).toMatchObject([{ code: '12200', path: '/Response/Dial[1]' }])
  })

  it('prevents the bridge if it cannot be fetched', async () => {
    const confirm = ({ confirm }: Destination) =>
      expect(confirm?.(new FakeCall())).rejects.toBeInstanceOf(DocumentUnreachable)
    const { context } = await meanwhile(noun(''), confirm)
    expect(context.warnings).toMatchObject([{ code: '11200' }])
  })
})

const states: readonly CalleeState[] = [
  { kind: 'initiated', callee: { ...testCallee, sip: { callId: 'sip-2', headers: [] } } },
  { kind: 'ringing', callee: testCallee },
  { kind: 'answered', callee: testCallee },
  { kind: 'ended', callee: testCallee, outcome: 'completed', durationMs: 3400, code: 'normal' },
]

describe.each(['Sip', 'Number', 'Client'])('the statusCallback of %s', (name) => {
  const content = { Sip: 'sip:a@b.example', Number: '+15550003', Client: 'alice' }[name]
  const callbacksOf = async (attributes: string, given = states) => {
    const noun = `<${name} statusCallback="${root}/status" ${attributes}>${content}</${name}>`
    const { context } = await meanwhile(noun, ({ onState }) => {
      for (const state of given) onState?.(state)
    })
    return context.callbacks
  }

  it('receives the end, with the fields in order', async () => {
    const callbacks = await callbacksOf('')
    expect(callbacks).toMatchObject([{ kind: 'call-status', url: `${root}/status`, method: 'POST' }])
    expect(Object.entries(fieldsOf(callbacks[0]))).toEqual([
      ['AccountSid', 'demo'],
      ['ApiVersion', '2010-04-01'],
      ['CallSid', 'c-2'],
      ['CallStatus', 'completed'],
      ['Direction', 'outbound-dial'],
      ['From', '+15550001'],
      ['To', 'sip:+15550003@carrier.example'],
      ['Timestamp', 'Mon, 05 Jan 2026 12:00:00 +0000'],
      ['SequenceNumber', '0'],
      ['CallbackSource', 'call-progress-events'],
      ['CallDuration', '3'],
      ['ParentCallSid', 'c-1'],
      ['SipResultCode', '200'],
      ['SipCallId', 'sip-2'],
    ])
  })

  it('receives the end once, also if the gateway dies during the call', async () => {
    const noun = `<${name} statusCallback="${root}/status" statusCallbackEvent="answered completed">${content}</${name}>`
    const { context } = await meanwhile(noun, ({ onState, statusTarget }) => {
      expect(statusTarget).toEqual({
        url: `${root}/status`,
        method: 'POST',
        states: ['answered', 'completed'],
      })
      for (const state of states) onState?.(state)
    })
    expect(context.callbacks.map(({ ends }) => ends)).toEqual([undefined, 'c-2'])
  })

  it('receives all requested events, numbered, by its method', async () => {
    const events = 'initiated ringing answered completed'
    const callbacks = await callbacksOf(`statusCallbackEvent="${events}" statusCallbackMethod="GET"`)
    expect(callbacks.map(({ method }) => method)).toEqual(Array(4).fill('GET'))
    const states = callbacks
      .map(fieldsOf)
      .map(({ CallStatus, SequenceNumber }) => [CallStatus, SequenceNumber])
    expect(states).toEqual([
      ['initiated', '0'],
      ['ringing', '1'],
      ['in-progress', '2'],
      ['completed', '3'],
    ])
  })

  it.each([
    ['busy', 'busy'],
    ['declined', 'busy'],
    ['no-answer', 'no-answer'],
    ['canceled', 'canceled'],
    ['failed', 'failed'],
  ] as const)('receives %s as %s, also if no callee was dialled', async (outcome, CallStatus) => {
    const callbacks = await callbacksOf('', [{ kind: 'ended', outcome, durationMs: 0, code: 'x' }])
    expect(callbacks.map(fieldsOf)).toMatchObject([{ CallStatus, CallDuration: '0', ParentCallSid: 'c-1' }])
    expect(fieldsOf(callbacks[0])).not.toHaveProperty('CallSid')
  })
})
