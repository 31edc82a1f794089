/**
 * Time at which a page that dials receives its description. The published SDK reports no failure after it.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mediaGrace } from '../../calls/leg/browser-media-watch.ts'
import { dialled, settled } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

const published = (version: string) => ({ agent: `@signalwire/js/browser/${version}` })
const to = '/public/bob'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

/** Advances the clock while the page answers pings. */
const pass = async (page: TestPage, ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 1000) {
    gateway.clock.advance(Math.min(left, 1000))
    await settled(page)
  }
}

describe.each(['3.27.0', '3.29.0', '3.30.0'])('a call that the published SDK %s dials', (version) => {
  it('has no description while it rings, and is rejected with the cause', async () => {
    const { page, leg } = await dialled(gateway, to, published(version))
    leg.ring()
    await pass(page, 14_000)
    leg.end({ code: 'declined' })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1', causeCode: 21 })
    expect(page.story.slice(0, 3)).toEqual(['call.state created', 'call.state ringing', 'verto.bye'])
  })

  it('needs no ringing tone: the application shows the ringing', async () => {
    const { leg } = await dialled(gateway, to, published(version))
    expect(leg.makesRingingTone).toBe(true)
  })

  it('has a description as soon as there is early media', async () => {
    const { page, leg } = await dialled(gateway, to, published(version))
    leg.ring()
    void leg.progress()
    expect(await page.message('verto.media')).toEqual({ callID: 'c1', sdp: 'answer to offer' })
  })

  it('receives the description with the answer', async () => {
    const { page, leg } = await dialled(gateway, to, published(version))
    leg.ring()
    void leg.answer()
    expect(await page.message('verto.answer')).toEqual({ callID: 'c1', sdp: 'answer to offer' })
    expect(page.story).not.toContain('verto.media')
  })
})

it.each(['3.27.0', '3.29.0'])(
  'a call of %s can ring without a description as long as it rings',
  async (version) => {
    const { page, leg } = await dialled(gateway, to, published(version))
    leg.ring()
    await pass(page, mediaGrace.connecting + 10_000)
    expect(leg.isEnded).toBe(false)
    expect(page.story).toEqual(['call.state created', 'call.state ringing'])
    void leg.answer()
    await page.message('verto.answer')
    // From here on, its media has the usual time to connect.
    await pass(page, mediaGrace.connecting)
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'client_lost' } })
  },
)

it('a call of 3.30.0 has a description before that version gives up', async () => {
  const { page, leg } = await dialled(gateway, to, published('3.30.0'))
  leg.ring()
  await pass(page, 15_000)
  expect(await page.message('verto.media')).toEqual({ callID: 'c1', sdp: 'answer to offer' })
})

it('the SDK of Trunkline receives the ringing tone', async () => {
  const { page, leg } = await dialled(gateway, to)
  expect(leg.makesRingingTone).toBe(false)
  leg.ring()
  expect(await page.message('verto.media')).toMatchObject({ sdp: 'answer to offer' })
})
