import { describe, expect, it } from 'vitest'
import type { FakeAgent } from '../../testing/fake-agent.ts'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { fieldsOf, root, runXml } from '../../testing/run-xml.ts'
import { readXmlDocument } from '../document.ts'

const url = 'wss://x.example/relay'

const relay = (attributes = '', inside = '') =>
  `<Connect action="${root}/next"><ConversationRelay url="${url}" ${attributes}>${inside}</ConversationRelay></Connect>`

/** Runs a document whose conversation is driven by a function. */
const talk = async (
  body: string,
  drive: (agent: FakeAgent, context: FakeContext, call: FakeCall) => unknown = (agent) =>
    agent.end({ kind: 'inactive' }),
) => {
  const call = new FakeCall()
  const context = new FakeContext()
  call.talks.push((agent) => drive(agent, context, call))
  await runXml(body, { call, context })
  return { call, context, options: call.agents[0]?.options, agent: call.agents[0] }
}

const warningsOf = (body: string) => readXmlDocument({ text: `<Response>${body}</Response>` }).warnings

describe('Connect ConversationRelay', () => {
  it('connects the server, and requests the action with the result', async () => {
    const { call, context } = await talk(
      relay('', '<Parameter name="order" value="42"/><Parameter name="table" value="7"/>'),
      (_, { sockets: [socket] }) => socket?.receives({ type: 'end', handoffData: '{"to":"sales"}' }),
    )
    expect(call.names.slice(0, 2)).toEqual(['answer', 'startAgent'])
    const [socket] = context.sockets
    expect(socket?.request.url).toBe(url)
    expect(socket?.sent[0]).toEqual({
      type: 'setup',
      sessionId: expect.any(String),
      accountSid: 'demo',
      parentCallSid: '',
      callSid: 'c-1',
      from: 'sip:+15550001@carrier.example',
      to: 'sip:+15550002@demo.localhost',
      forwardedFrom: '',
      callType: 'PSTN',
      callerName: 'Ann',
      direction: 'inbound',
      callStatus: 'IN-PROGRESS',
      customParameters: { order: '42', table: '7' },
    })
    expect(context.requests[0]?.url).toBe(`${root}/next`)
    expect(context.fields(0)).toMatchObject({
      CallSid: 'c-1',
      SessionId: socket?.sent[0]?.sessionId,
      SessionStatus: 'ended',
      SessionDuration: '0',
      HandoffData: '{"to":"sales"}',
    })
    expect(context.warnings).toEqual([])
  })

  it('reports a failure to its action, and warns of it', async () => {
    const { context } = await talk(relay(), (_, { sockets: [socket] }) => socket?.receives('nonsense'))
    expect(context.fields(0)).toMatchObject({
      SessionStatus: 'failed',
      ErrorCode: '64107',
      ErrorMessage: 'Invalid message: a JSON object expected.',
    })
    expect(context.fields(0)).not.toHaveProperty('HandoffData')
    expect(context.warnings).toMatchObject([{ code: '64107', path: '/Response/Connect[1]' }])
  })

  it('reports to its action after the caller has hung up', async () => {
    const { context } = await talk(relay(), (_agent, _context, call) => call.end())
    expect(context.callbacks).toMatchObject([{ kind: 'action', url: `${root}/next` }])
    expect(fieldsOf(context.callbacks[0])).toMatchObject({ SessionStatus: 'completed' })
  })

  it('without an action, continues with the next verb', async () => {
    const body = `<Connect><ConversationRelay url="${url}"/></Connect><Say>Bye</Say>`
    expect((await talk(body)).call.names).toEqual(['answer', 'startAgent', 'play'])
  })

  it('has the defaults of the hosted service', async () => {
    const { options, agent } = await talk(relay())
    expect(options).toMatchObject({
      languages: [{ code: 'en-US', heard: 'en-US' }],
      hints: [],
      turns: {
        barge: 'any',
        bargeAcknowledgements: false,
        bargeMinWords: 1,
        keys: 'interrupt',
        isSemantic: true,
      },
    })
    expect(options).not.toHaveProperty('recogniser')
    expect(agent?.of('say')).toEqual([])
  })

  it('reads all that has an effect', async () => {
    const attributes =
      'welcomeGreeting=" Hello! " welcomeGreetingInterruptible="false" language="es-ES" ttsLanguage="es-MX" ' +
      'ttsProvider="Google" voice="es-Neural2-A" transcriptionProvider="Deepgram" speechModel="nova-3-general" ' +
      'interruptible="speech" interruptSensitivity="low" ignoreBackchannel="false" speechTimeout="900" ' +
      'reportInputDuringAgentSpeech="any" dtmfDetection="true" preemptible="true" partialPrompts="true" ' +
      'hints="pizza, salami" events="tokens-played speaker-events" debug="debugging"'
    const languages =
      '<Language code="fr-FR" ttsProvider="Amazon" voice="Lea"/>' +
      '<Language code="de-DE" voice="UgBBYS2sOqTuMpoF3BR0-flash_v2_5-1.0_0.7_0.8"/>'
    const drive = async (each: FakeAgent, { sockets: [socket] }: FakeContext) => {
      for (const lang of ['fr-FR', 'de-DE']) socket?.receives({ type: 'text', token: 'x', last: true, lang })
      await new Promise(setImmediate)
      each.end({ kind: 'inactive' })
    }
    const { options, agent, context } = await talk(relay(attributes, languages), drive)
    expect(context.warnings).toEqual([])
    expect(options).toMatchObject({
      recogniser: 'Deepgram:nova-3-general',
      hints: ['pizza', 'salami'],
      languages: [{ code: 'es-MX', heard: 'es-ES', voice: 'Google.es-Neural2-A' }],
      turns: {
        barge: 'none',
        bargeAcknowledgements: true,
        keys: 'ignored',
        bargeMinWords: 2,
        endOfSpeechMs: 900,
        isSemantic: false,
      },
    })
    const settings = { speed: 1, stability: 0.7, similarity_boost: 0.8 }
    const german = { voice: 'ElevenLabs.UgBBYS2sOqTuMpoF3BR0', voiceSettings: settings }
    expect(agent?.of('say')).toMatchObject([
      [{ text: 'Hello!' }, { isInterruptible: false }],
      [{ text: 'x' }, { language: { heard: 'fr-FR', voice: 'Amazon.Lea' } }],
      [{ text: 'x' }, { language: { code: 'de-DE', ...german } }],
    ])
  })

  it.each([
    ['voice="Google.en-US-Neural2-F"', { voice: 'Google.en-US-Neural2-F' }],
    ['voice="cgSgspJ2msm6clMCkdW9"', { voice: 'ElevenLabs.cgSgspJ2msm6clMCkdW9' }],
    ['ttsProvider="amazon"', { voice: 'amazon' }],
    ['transcriptionLanguage="sv-SE"', { code: 'en-US', heard: 'sv-SE' }],
  ])('names the voice and language of %s', async (attributes, language) => {
    expect((await talk(relay(attributes))).options?.languages[0]).toMatchObject(language)
  })

  it('reads names in lower case, as the published library writes some', async () => {
    const { options, context } = await talk(relay('speechtimeout="800" ignorebackchannel="false"'))
    expect(options?.turns).toMatchObject({ endOfSpeechMs: 800, bargeAcknowledgements: true })
    expect(context.warnings).toEqual([])
  })

  it('takes the voice of its language from the list', async () => {
    const { options } = await talk(relay('language="fr-FR"', '<Language code="fr-FR" voice="polly.Lea"/>'))
    expect(options?.languages).toMatchObject([{ code: 'fr-FR', voice: 'polly.Lea' }])
  })

  it('warns of what has no effect, and is not refused for it', () => {
    const attributes = [
      'profanityFilter',
      'intelligenceService',
      'eotThreshold',
      'elevenlabsTextNormalization',
    ]
    const given = attributes.map((name) => `${name}="x"`).join(' ')
    const inside =
      '<Language voice="x"/><Language code="fr-FR" speechModel="y"/><Parameter value="1"/><Other/>'
    const found = warningsOf(relay(`${given} speechTimeout="1"`, inside))
    for (const name of [...attributes, 'speechTimeout', 'speechModel'])
      expect(found.map(({ message }) => message)).toContainEqual(expect.stringContaining(name))
    expect(found.map(({ path }) => path.replace('/Response/Connect[1]/ConversationRelay[1]', ''))).toEqual(
      expect.arrayContaining(['/Language[1]', '/Language[2]/@speechModel', '/Parameter[1]', '/Other[1]']),
    )
  })

  it.each(['https://x.example', 'relay', ''])('refuses the URL %j', (wrong) => {
    const text = `<Response><Connect><ConversationRelay url="${wrong}"/></Connect></Response>`
    expect(() => readXmlDocument({ text })).toThrow(/wss: or ws: URL/)
  })
})
