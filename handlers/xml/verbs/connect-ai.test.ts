import { createRequire } from 'node:module'
import { afterAll, describe, expect, it } from 'vitest'
import type { FakeAgent } from '../../testing/fake-agent.ts'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { fieldsOf, root, runXml } from '../../testing/run-xml.ts'
import { TestScripts } from '../../testing/test-scripts.ts'
import { VerbFailed } from '../../verbs.ts'
import { readXmlDocument } from '../document.ts'

/** Elements of the published library, as far as the test uses them. */
interface Written {
  connect(): Written
  ai(attributes: object): Written
  prompt(attributes: object, text: string): Written
  swaig(): Written
  function(attributes: object): Written
  addMetaData(name: string, value: string): Written
}

const { RestClient } = createRequire(import.meta.url)('@signalwire/compatibility-api')
const VoiceResponse: new () => Written = RestClient.LaML.VoiceResponse

const scripts = new TestScripts()
afterAll(() => scripts.close())

const url = 'https://x.example/swaig'
const stop = (agent: FakeAgent) => agent.end({ kind: 'stopped' })

/** Calls the function, and stops unless the agent is over. */
const goes = async (agent: FakeAgent) => {
  await agent.call('go')
  agent.end({ kind: 'inactive' })
}

/** Runs a document whose agent is driven by a function, with a server that replies as given. */
const talk = async (body: string, drive: (agent: FakeAgent) => unknown, reply: unknown = {}) => {
  const call = new FakeCall()
  const served = [url, url.replace('//', '//ann:secret@')].map((each) => [each, JSON.stringify(reply)])
  const context = new FakeContext(Object.fromEntries(served))
  call.talks.push(drive)
  await runXml(body, { call, context, runAgent: scripts.runAgent })
  return { call, context, options: call.agents[0]?.options }
}

const agent = (inside: string, attributes = '') => `<Connect><AI ${attributes}>${inside}</AI></Connect>`
const simple = agent('<Prompt>Help.</Prompt>')
const withFunction = agent(
  `<Prompt>Help.</Prompt><SWAIG><Function name="go" purpose="Goes." webHookURL="${url}"/></SWAIG>`,
)

describe('Connect AI', () => {
  it('hands the call to an agent, and the next verb follows', async () => {
    const { call, context, options } = await talk(`${simple}<Say>Bye</Say>`, stop)
    expect(call.names).toEqual(['answer', 'startAgent', 'play'])
    expect(options?.prompt).toBe('Help.')
    expect(context.warnings).toEqual([])
  })

  it('reads its document', async () => {
    const settings =
      'temperature="0.2" topP="0.5" confidence="0.7" bargeConfidence="0.3" presencePenalty="0.1" frequencyPenalty="-1"'
    const defaults = `<Defaults webHookURL="${url}" webHookAuthUser="ann" webHookAuthPass="secret"><shop>Main</shop></Defaults>`
    const order = '<Function name="go" argument="The size" purpose="Orders."><table>7</table></Function>'
    const language =
      '<Languages><Language name="Spanish" code="es-MX" voice="polly.Lupe"/><Language code="en-US"/></Languages>'
    const body = agent(
      `<Prompt ${settings}>\nYou take orders.\n\nBe kind.\n</Prompt><PostPrompt topP="0.4">Summarize.</PostPrompt>` +
        `${language}<SWAIG>${defaults}${order}</SWAIG>`,
      'engine="gcloud" voice="en-US-Neural2-J" hints="Acme, invoice"',
    )
    const { context, options } = await talk(body, goes)
    expect(context.warnings).toEqual([])
    expect(options).toMatchObject({
      prompt: 'You take orders.\n\nBe kind.',
      hints: ['Acme', 'invoice'],
      languages: [
        { code: 'es-MX', name: 'Spanish', voice: 'polly.Lupe' },
        { code: 'en-US', voice: 'gcloud.en-US-Neural2-J' },
      ],
      modelSettings: { temperature: 0.2, topP: 0.5, presencePenalty: 0.1, frequencyPenalty: -1 },
      turns: { confidence: 0.7, bargeConfidence: 0.3 },
      functions: [
        { name: 'go', description: 'Orders.', parameters: { properties: { argument: { type: 'string' } } } },
        { name: 'hangup' },
      ],
    })
    const [request] = context.requests
    expect(request?.url).toBe('https://ann:secret@x.example/swaig')
    expect(JSON.parse(request?.body?.text ?? '{}')).toMatchObject({
      function: 'go',
      meta_data: { shop: 'Main', table: '7' },
    })
  })

  it('reads what the published library writes', async () => {
    const response = new VoiceResponse()
    const ai = response.connect().ai({ voice: 'en-US-Neural2-J' })
    ai.prompt({ temperature: 0.2 }, 'You take orders.')
    ai.swaig().function({ name: 'go', purpose: 'Orders.' }).addMetaData('table', '7')
    const body = response.toString().replace(/^.*<Response>|<\/Response>$/g, '')
    const { options } = await talk(body, stop)
    expect(options).toMatchObject({
      prompt: 'You take orders.',
      modelSettings: { temperature: 0.2 },
      functions: [{ name: 'go' }, { name: 'hangup' }],
    })
  })

  it('sends the report with its credentials', async () => {
    const attributes =
      'postPromptURL="https://x.example/report" postPromptAuthUser="ann" postPromptAuthPassword="secret"'
    const { context } = await talk(agent('<Prompt>Help.</Prompt>', attributes), stop)
    await expect
      .poll(() => context.callbacks.map((each) => each.url))
      .toEqual(['https://ann:secret@x.example/report'])
  })

  it('speaks by engine and voice without Languages', async () => {
    const { options } = await talk(agent('<Prompt>Hilf.</Prompt>', 'engine="polly" voice="de-DE-Anna"'), stop)
    expect(options?.languages).toEqual([
      { code: 'de-DE', name: 'German (Germany)', voice: 'polly.de-DE-Anna' },
    ])
  })

  it('fills placeholders as a script does', async () => {
    const { options } = await talk(agent('<Prompt>Caller %{call.from}</Prompt>'), stop)
    expect(options?.prompt).toBe('Caller sip:+15550001@carrier.example')
  })

  it('runs the script of an action on the call', async () => {
    let text = ''
    const main = [{ play: { url: 'say:Paid' } }, { set: { ai_response: 'The caller paid.' } }]
    const drive = async (each: FakeAgent) => {
      text = (await each.call('go')).text
      stop(each)
    }
    const { call } = await talk(`${withFunction}<Say>Bye</Say>`, drive, {
      action: [{ SWML: { version: '1.0.0', sections: { main } } }],
    })
    expect(text).toBe('The caller paid.')
    expect(call.names).toEqual(['answer', 'startAgent', 'play', 'play'])
  })

  it('is left with a script, which the document does not follow', async () => {
    const document = { version: '1.0.0', sections: { main: [{ play: { url: 'say:Other' } }] } }
    const { call } = await talk(`${withFunction}<Say>never</Say>`, goes, {
      action: [{ SWML: document, transfer: true }],
    })
    expect(call.verbs.flatMap(([name, options]) => (name === 'play' ? [options] : []))).toMatchObject([
      { sounds: [{ text: 'Other' }] },
    ])
  })

  it('requests its action after the conversation, and after a failure, with a warning', async () => {
    const connect = (inside: string) => `<Connect action="${root}/next"><AI>${inside}</AI></Connect>`
    const body = connect('<Prompt>Help.</Prompt>')
    const ended = await talk(body, stop)
    expect(ended.context.requests.map((each) => each.url)).toEqual([`${root}/next`])
    const call = new FakeCall()
    call.failing.set('startAgent', new VerbFailed('agents_unavailable', 'No engine.'))
    const { context } = await runXml(body, { call, runAgent: scripts.runAgent })
    expect(context.requests.map((each) => each.url)).toEqual([`${root}/next`])
    expect(context.warnings).toMatchObject([
      { code: 'agents_unavailable', path: '/Response/Connect[1]/AI[1]' },
    ])
  })

  it('reports to its action after the caller has hung up', async () => {
    const call = new FakeCall()
    call.talks.push(() => call.end())
    const body = `<Connect action="${root}/next"><AI><Prompt>Help.</Prompt></AI></Connect>`
    const { context } = await runXml(body, { call, runAgent: scripts.runAgent })
    expect(context.callbacks).toMatchObject([{ kind: 'action', url: `${root}/next` }])
    expect(fieldsOf(context.callbacks[0])).toMatchObject({ CallSid: 'c-1' })
  })

  it('has no effect in a gateway without agents, with a warning', async () => {
    const { call, context } = await runXml(`${simple}<Say>Bye</Say>`)
    expect(call.names).toEqual(['answer', 'play'])
    expect(context.warnings).toMatchObject([{ code: 'agents_unavailable' }])
  })

  it('warns of faulty parts at their elements', () => {
    const warningsOf = (body: string) =>
      readXmlDocument({ text: `<Response>${body}</Response>` }).warnings.map(({ path, message }) => [
        path.replace('/Response/Connect[1]/AI[1]', ''),
        message,
      ])
    expect(warningsOf(agent(''))).toEqual([
      ['', 'AI needs a Prompt with a text; no agent talks to the caller.'],
    ])
    expect(
      warningsOf(
        agent(
          '<Prompt temperature="hot">Help.</Prompt><SWAIG><Function purpose="Goes."/></SWAIG>' +
            '<Languages><Language name="German"/></Languages>',
        ),
      ),
    ).toEqual([
      ['/Prompt[1]', expect.stringContaining('Prompt: temperature')],
      ['/Languages[1]/Language[1]', 'Language: must have a code such as en-US.'],
      ['/SWAIG[1]/Function[1]', expect.stringContaining('Function: must have the name')],
    ])
  })
})
