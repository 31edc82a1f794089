/** Calls of the softphone page with a voice agent. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStandIns, type StandIns } from '../../gateway/stand-ins/open-stand-ins.ts'
import { scriptOf } from '../../gateway/stand-ins/read-script.ts'
import { flowText, scripted, xmlText } from '../support/applications.ts'
import { alice } from '../support/gateway.ts'
import { PageWire } from '../support/page-wire.ts'
import { Softphone } from '../support/softphone.ts'
import { isAccessible, SoftphoneDesk } from '../support/softphone-desk.ts'
import { until } from '../support/until.ts'

/** Agent that waits until the page is muted, and does not speak first. */
const assistant = {
  address: '/public/assistant',
  displayName: 'Assistant',
  handler: scripted(
    { answer: {} },
    {
      ai: {
        prompt: { text: 'Book tables.' },
        params: {
          wait_for_user: true,
          initial_sleep_ms: 2000,
          transparent_barge: false,
          attention_timeout: 0,
        },
      },
    },
  ),
}
/** Documents that connect the caller to the agent. */
const desks = Object.entries({
  script: scripted({ connect: { to: '/public/assistant' } }),
  xml: { kind: 'xml', document: xmlText('<Dial>/public/assistant</Dial>') },
  flow: { kind: 'flow', document: JSON.parse(flowText('agent', { address: '/public/assistant' })) },
}).map(([name, handler]) => ({ address: `/public/${name}`, displayName: name, handler }))
const question =
  'For how many people shall I book it, and at what time would you like to come, at seven or at eight?'
const standInRules = [
  { when: { contains: ['table'] }, do: [{ say: question }] },
  { when: { contains: ['hours'] }, do: [{ say: 'From nine.' }] },
  { when: 'any', do: [{ say: 'Good, no table then. Is there anything else that I can do for you today?' }] },
]

let standIns: StandIns
let desk: SoftphoneDesk
let first: Softphone
let wire: PageWire

beforeAll(async () => {
  standIns = await openStandIns({ script: scriptOf({ rules: standInRules }) })
  const agents = {
    engines: { own: { kind: 'pipeline', recognisers: 'ears', models: 'mind' } },
    recognisers: { ears: { kind: 'vosk', url: `${standIns.wsUrl}/vosk` } },
    models: { mind: { kind: 'openai', url: `${standIns.url}/v1`, key: 'k', model: 'any' } },
  }
  desk = await SoftphoneDesk.start({ agents, resources: [assistant, ...desks] })
  first = new Softphone(await desk.browser.page({ camera: 'red' }))
  wire = new PageWire(first.page)
  await first.signIn(desk.gateway, alice)
})

afterAll(async () => {
  await desk?.stop()
  await standIns?.close()
})

/** Entries of the transcript, as `side: text`. `…`: it may change; `!`: it was interrupted. */
const transcript = (phone: Softphone): Promise<string[]> =>
  phone.page.evaluate(
    `[...document.querySelectorAll('[data-testid=said]')].map((e) => e.dataset.side + ': ' +
      e.querySelector('[data-testid=said-text]').textContent +
      (e.dataset.final === 'true' ? '' : '…') + (e.querySelector('i') ? '!' : ''))`,
  )

/**
 * Makes a sound with the microphone, which the recogniser takes for the text. The page is muted otherwise.
 */
const says = async (phone: Softphone, text: string): Promise<void> => {
  standIns.willHear(text)
  await phone.mute()
  await until(
    `the page shows that ${text} is being said`,
    () => transcript(phone),
    (entries) => entries.some((entry) => entry.startsWith('caller: ') && entry.endsWith('…')),
  )
  await phone.mute()
}

it('a call with a voice agent shows what is said, as text, and what was heard of it', async () => {
  const shows = (what: string, fits: (entries: readonly string[]) => boolean) =>
    until(what, () => transcript(first), fits)
  await first.part('tab-people').click()
  await first.dial('/public/assistant')
  await first.talking()
  await first.mute()
  expect(await first.part('transcript').count()).toBe(0)
  await says(first, 'I want a <b>table</b>')
  await shows('the answer begins', (entries) => entries.at(-1)?.startsWith('agent: ') ?? false)
  // Some words are heard before the interruption.
  await first.page.waitForTimeout(1000)
  await says(first, 'No, stop it')
  await shows('the next answer', (entries) => entries.length === 4)
  const [wish, asked, objection, answer] = await transcript(first)
  expect([wish, objection]).toEqual(['caller: I want a <b>table</b>', 'caller: No, stop it'])
  expect(asked).toMatch(/^agent: For\b.*!$/)
  expect(`agent: ${question}`.startsWith(asked!.slice(0, -1).trimEnd())).toBe(true)
  expect(asked!.length).toBeLessThan(`agent: ${question}`.length)
  expect(answer).toMatch(/^agent: Good/)
  expect(await first.part('said-text').locator('b').count()).toBe(0)
  const log = first.page.getByRole('log', { name: 'Transcript' })
  expect(await log.getAttribute('aria-live')).toBe('polite')
  expect(await first.page.getByRole('heading', { name: 'Transcript' }).isVisible()).toBe(true)
  await isAccessible(first, 'call with an agent')
  await shows('everything was heard', (entries) => entries.every((entry) => !entry.endsWith('…')))
  await first.part('camera').click()
  await first.part('own-video').waitFor({ state: 'visible' })
  await isAccessible(first, 'call with an agent and video')
  await first.part('camera').click()
  await first.hangUp()
  await first.idle()
  expect(await first.part('transcript').count()).toBe(0)
})

it.each(['assistant', 'script', 'xml', 'flow'])(
  'a page receives all events of the agent: %s',
  async (name) => {
    const before = wire.received.length
    const events = () =>
      wire.received.slice(before).flatMap(({ params }) => {
        const type = String(params?.event_type)
        return type.startsWith('ai.') ? [{ type, params: params.params }] : []
      })
    await first.dial(`/public/${name}`)
    await first.talking()
    await first.mute()
    await says(first, 'What are your hours')
    const isOver = () => events().some(({ type }) => type === 'ai.completion')
    await until('the answer is complete', isOver, (is) => is)
    await first.hangUp()
    await first.idle()
    const { call_id, node_id, room_session_id } = wire.events('call.state', before)[0]!
    expect(events().filter(({ type }) => type !== 'ai.partial_result')).toEqual(
      [
        ['start'],
        ['speech_detect', { text: 'What are your hours', type: 'normal' }],
        ['response_utterance', { utterance: '' }],
        ['response_utterance', { utterance: 'From nine.' }],
        ['completion', { text: 'From nine.', type: 'normal' }],
      ].map(([type, params]) => ({
        type: `ai.${type}`,
        params: { ...Object(params), call_id, node_id, room_session_id },
      })),
    )
  },
)

it('a person who gets the agent by a transfer with a call before it sees what is said from then on', async () => {
  const second = await desk.bob()
  await first.dial('/public/script')
  await first.talking()
  await first.mute()
  await says(first, 'What are your hours')
  const shows = (phone: Softphone, entry: string) =>
    until(
      `the page shows ${entry}`,
      () => transcript(phone),
      (entries) => entries.includes(entry),
    )
  await shows(first, 'agent: From nine.')
  await first.part('transfer').click()
  await first.part('transfer-to').fill('bob')
  await first.part('suggestion').click()
  await first.part('transfer-ask').click()
  await second.rings()
  await second.accept()
  await second.mute()
  await first.part('connect').click()
  await first.idle()
  await second.talking()
  await says(second, 'And your hours on Sunday')
  await shows(second, 'agent: From nine.')
  expect(await transcript(second)).toEqual(['caller: And your hours on Sunday', 'agent: From nine.'])
  await second.hangUp()
  await second.idle()
  await second.close()
})
