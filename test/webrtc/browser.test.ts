/** @schedule tones first: a browser encodes and decodes sound in real time, in many calls. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dominant, sine } from '../../media/codecs/tone.ts'
import { TestPeer } from '../../media/edge/testing/test-peer.ts'
import { rateOf } from '../../media/rtp/testing/codecs.ts'
import type { AudioCodec, BrowserMedia, MediaPort } from '../../media/types.ts'
import { hangUp, type MediaStack, openMediaStack, until } from '../support/webrtc/media-stack.ts'
import { toneFile } from '../support/webrtc/microphone.ts'
import { PhoneBrowser, type PhonePage } from '../support/webrtc/phone-page.ts'

const microphone = 1000
let file: Awaited<ReturnType<typeof toneFile>>
let browser: PhoneBrowser
let fixture: MediaStack
let page: PhonePage
let opened: { close(): Promise<unknown> }[] = []

beforeAll(async () => {
  file = await toneFile(microphone)
  browser = await PhoneBrowser.start(file.path)
  fixture = await openMediaStack()
})
afterAll(async () => {
  await fixture?.close()
  await browser?.close()
  await file?.remove()
})
afterEach(async () => {
  await page?.close()
  const left = { transports: fixture.webrtc.transports, ports: fixture.edge.portCount }
  // Closes what a failed test left open, so that later tests do not fail too.
  for (const one of opened.reverse()) await one.close()
  opened = []
  expect(left).toEqual({ transports: 0, ports: 0 })
})

const near = (frequency: number) => (found: number) => Math.abs(found - frequency) < 15
const attribute = (sdp: string, name: string) => sdp.match(new RegExp(`^a=${name}:(.*)$`, 'm'))?.[1]?.trim()

/** Waits until the page's connection has two transports, both connected. */
const bothConnected = () =>
  until(
    () => page.call('state'),
    ({ connection, transports }) => connection === 'connected' && transports.join() === 'connected,connected',
  )

const states = (media: BrowserMedia) => {
  const seen: string[] = []
  media.onState((state) => seen.push(state))
  return seen
}

/** Calls from the browser: it offers, the gateway answers. */
const callIn = async (
  codecs: readonly AudioCodec[],
  change: (sdp: string) => string = (sdp) => sdp,
  video = false,
) => {
  page = await browser.open()
  await page.call('start', { audio: true, video })
  const media = await fixture.webrtc.answer('group', await page.call('offer'), codecs)
  opened.push(media.port, media)
  await page.call('take', 'answer', change(media.sdp))
  return media
}

/** Connects the browser with a carrier, and checks that each hears the other's tone. */
const converse = async (media: BrowserMedia, codec: AudioCodec): Promise<MediaPort> => {
  const peer = await TestPeer.open()
  const carrier = await fixture.edge.open({ group: 'group', kind: 'carrier' })
  opened.push(carrier)
  const { near: ours, far } = peer.far(codec)
  carrier.setFar(ours, far)
  fixture.edge.join(media.port, carrier)
  const rate = rateOf(codec)
  let over = false
  const talking = (async () => {
    while (!over) await peer.talk(carrier.port, codec, sine(600, 500, rate))
  })()
  try {
    await until(() => page.call('pitch'), near(600))
    await until(() => dominant(peer.audio(codec).slice(-rate / 2), rate), near(microphone))
  } finally {
    over = true
    await talking
  }
  await peer.close()
  return carrier
}

/** Waits for more than 100 packets of the page, and returns the number of lost ones. */
const lostOf100 = async ({ port }: BrowserMedia): Promise<number> => {
  const { lost } = await until(
    () => port.stats(),
    ({ received }) => received > 100,
  )
  return lost
}

/** Sends digits from both sides of a connected session, and checks that they arrive. */
const pressBoth = async ({ port }: BrowserMedia): Promise<void> => {
  const heard: string[] = []
  port.onEvent((event) => event.kind === 'digit' && heard.push(event.digit))
  await until(
    async () => (await port.stats()).received,
    (received) => received > 10,
  )
  expect(await page.call('press', '15#')).toBe(true)
  await until(
    () => heard.join(''),
    (keys) => keys === '15#',
  )
  // Chromium plays digits only within a stream of audio.
  const playing = port.play({ prompt: { sampleRate: 8000, samples: sine(440, 1000) }, loop: 0 })
  await until(() => page.call('pitch'), near(440))
  const pressing = port.sendDigits('8'.repeat(8))
  await until(
    () => page.call('pitch'),
    (found) => near(852)(found) || near(1336)(found),
  )
  playing.stop()
  expect(await pressing).toBe(true)
}

describe('digits of a browser by RFC 4733', () => {
  const withoutWide = (sdp: string) =>
    sdp.replace(/^a=(rtpmap|fmtp):110 .*\r\n/gm, '').replace(/^(m=audio .*) 110\b/m, '$1')

  it.each(['PCMU', 'opus'] as const)('pass both ways when the browser calls with %s', async (codec) => {
    const media = await callIn([codec])
    expect(media.sdp.match(/telephone-event\/\d+/g)).toEqual(
      codec === 'opus' ? ['telephone-event/8000', 'telephone-event/48000'] : ['telephone-event/8000'],
    )
    await pressBoth(media)
    await hangUp(media)
  })

  it('pass both ways with Opus and telephone-event at 8 kHz only', async () => {
    page = await browser.open()
    await page.call('start', { audio: true })
    const media = await fixture.webrtc.answer('group', withoutWide(await page.call('offer')), ['opus'])
    opened.push(media.port, media)
    await page.call('take', 'answer', media.sdp)
    await pressBoth(media)
    await hangUp(media)
  })

  it('pass both ways when the browser is called', async () => {
    page = await browser.open()
    const media = await fixture.webrtc.offer('group', 'opus')
    opened.push(media.port, media)
    await media.accept(await page.call('answer', media.sdp))
    await pressBoth(media)
    await hangUp(media)
  })

  it('are not sent to a browser whose answer has no telephone-event', async () => {
    page = await browser.open()
    const media = await fixture.webrtc.offer('group', 'PCMU')
    opened.push(media.port, media)
    const answer = await page.call('answer', media.sdp)
    await media.accept(
      answer.replace(/^a=(rtpmap|fmtp):126 .*\r\n/gm, '').replace(/^(m=audio .*) 126\b/m, '$1'),
    )
    expect(await media.port.sendDigits('1')).toBe(false)
    await hangUp(media)
  })
})

describe('a calling browser', () => {
  it('hears a prompt, and talks with a carrier in the same codec', async () => {
    const media = await callIn(['PCMU', 'PCMA'])
    const seen = states(media)
    expect(media.codec).toBe('PCMU')
    const playing = media.port.play({ prompt: { sampleRate: 8000, samples: sine(440, 1000) }, loop: 0 })
    await until(() => page.call('pitch'), near(440))
    expect(seen).toEqual(['connected'])
    playing.stop()
    expect(await playing.done).toBe('stopped')
    const carrier = await converse(media, 'PCMU')
    expect(await lostOf100(media)).toBe(0)
    await hangUp(media, carrier)
    expect(seen).toEqual(['connected', 'closed'])
  })

  it('gets the gateway’s preferred codec, and its call to a carrier with another codec is transcoded', async () => {
    const media = await callIn(['PCMA', 'PCMU'])
    expect(media.codec).toBe('PCMA')
    await hangUp(media, await converse(media, 'PCMU'))
  })

  it.each(['G722', 'opus'] as const)(
    'talks with a carrier in the same codec %s without lost packets',
    async (codec) => {
      const media = await callIn([codec])
      expect(media.codec).toBe(codec)
      const carrier = await converse(media, codec)
      expect(await lostOf100(media)).toBe(0)
      await hangUp(media, carrier)
    },
  )

  it.each([
    ['opus', 'PCMU'],
    ['opus', 'G722'],
    ['G722', 'PCMA'],
    ['PCMU', 'opus'],
  ] as const)('talks with %s to a carrier with %s', async (codec, carrier) => {
    const media = await callIn([codec])
    await hangUp(media, await converse(media, carrier))
  })

  it('can use an unusual payload type for Opus', async () => {
    page = await browser.open()
    await page.call('start', { audio: true })
    // Firefox uses 109. Chromium accepts the number because its own offer has it.
    const offer = (await page.call('offer'))
      .replaceAll(/(?<=^a=(?:rtpmap|fmtp|rtcp-fb):)111\b/gm, '109')
      .replace(/^(m=audio.*) 111\b/m, '$1 109')
    const media = await fixture.webrtc.answer('group', offer, ['opus'])
    opened.push(media.port, media)
    expect(media.sdp).toContain('a=rtpmap:109 opus/48000/2')
    await hangUp(media)
  })

  it('connects over TCP without a UDP candidate', async () => {
    const media = await callIn(['PCMU'], (sdp) => sdp.replace(/^a=candidate:udp.*\r\n/gm, ''))
    media.port.play({ prompt: { sampleRate: 8000, samples: sine(440, 1000) }, loop: 0 })
    await until(() => page.call('pitch'), near(440))
    expect((await page.call('path')).protocol).toBe('tcp')
    await hangUp(media)
  })

  it('restarts ICE and continues in the same session', async () => {
    const media = await callIn(['PCMU'])
    media.port.play({ prompt: { sampleRate: 8000, samples: sine(440, 1000) }, loop: 0 })
    await until(() => page.call('pitch'), near(440))
    const first = media.sdp
    const answer = await media.renegotiate(await page.call('offer', true))
    expect(attribute(answer, 'ice-ufrag')).not.toBe(attribute(first, 'ice-ufrag'))
    const origin = (sdp: string) =>
      sdp
        .match(/^o=- (\d+) (\d+)/m)!
        .slice(1)
        .map(Number)
    expect(origin(answer)).toEqual([origin(first)[0], origin(first)[1]! + 1])
    await page.call('take', 'answer', answer)
    // Chromium chooses the candidate pair from here on. On a busy machine it keeps the old one. The audio
    // must continue.
    const before = (await media.port.stats()).received
    await until(
      async () => (await media.port.stats()).received,
      (received) => received > before + 50,
    )
    await until(() => page.call('pitch'), near(440))
    // An unchanged offer leaves the transports unchanged.
    const again = await media.renegotiate(await page.call('offer'))
    expect(attribute(again, 'ice-ufrag')).toBe(attribute(answer, 'ice-ufrag'))
    await hangUp(media)
  })

  it('can offer video in its first offer, and add video in a later one', async () => {
    const media = await callIn(['PCMU'], undefined, true)
    expect(media.sdp).toMatch(/^m=video [1-9]/m)
    expect(media.sdp).not.toContain('BUNDLE')
    await bothConnected()
    expect(fixture.webrtc.transports).toBe(2)
    await hangUp(media, await converse(media, 'PCMU'))
    await page.close()

    const plain = await callIn(['PCMU'])
    await page.call('addVideo')
    await page.call('take', 'answer', await plain.renegotiate(await page.call('offer')))
    await bothConnected()
    // The page receives the video of its own camera.
    const mirror = fixture.webrtc.joinVideo(plain.video, plain.video)
    await until(
      () => page.call('seen'),
      ({ frames, width, height }) => frames > 20 && width === 640 && height === 480,
    )
    mirror.close()
    await hangUp(plain)
  })

  it('receives no sound while deaf, also after a new offer or a reload', async () => {
    const media = await callIn(['opus'])
    media.port.play({ prompt: { sampleRate: 8000, samples: sine(440, 1000) }, loop: 0 })
    await until(() => page.call('pitch'), near(440))
    await media.setDeaf(true)
    await until(
      () => page.call('pitch'),
      (pitch) => pitch === 0,
    )
    await page.call('take', 'answer', await media.renegotiate(await page.call('offer', true)))
    const heard: number[] = []
    await until(
      async () => heard.push(await page.call('pitch')),
      (readings) => readings >= 10,
    )
    expect(heard).toEqual(heard.map(() => 0))
    await media.setDeaf(false)
    await until(() => page.call('pitch'), near(440))
    await Promise.all([media.setDeaf(true), media.setDeaf(false), media.setDeaf(true)])
    // A reloaded page has a new connection and new m-lines.
    await page.close()
    page = await browser.open()
    await page.call('start', { audio: true })
    await page.call('take', 'answer', await media.renegotiate(await page.call('offer')))
    await until(
      () => page.call('state'),
      ({ connection }) => connection === 'connected',
    )
    expect(await page.call('pitch')).toBe(0)
    await media.setDeaf(false)
    await until(() => page.call('pitch'), near(440))
    await hangUp(media)
  })

  it('that stops is reported as disconnected, not as failed', async () => {
    const media = await callIn(['PCMU'])
    const seen = states(media)
    await until(
      () => seen.at(-1),
      (state) => state === 'connected',
    )
    await page.call('stop')
    await until(
      () => seen.at(-1),
      (state) => state === 'disconnected',
    )
    await hangUp(media)
  })

  it('can continue the same session with a new connection', async () => {
    const media = await callIn(['PCMU'])
    const seen = states(media)
    await until(
      () => seen.at(-1),
      (state) => state === 'connected',
    )
    await page.close()
    page = await browser.open()
    await page.call('start', { audio: true })
    await page.call('take', 'answer', await media.renegotiate(await page.call('offer')))
    await until(
      () => seen.at(-1),
      (state) => state === 'connected',
    )
    expect(fixture.webrtc.transports).toBe(1)
    await hangUp(media, await converse(media, 'PCMU'))
  })
})

describe('a called browser', () => {
  it.each(['PCMU', 'PCMA', 'G722', 'opus'] as const)('answers the gateway’s offer of %s', async (codec) => {
    page = await browser.open()
    const media = await fixture.webrtc.offer('group', codec)
    opened.push(media.port, media)
    const seen = states(media)
    const answer = await page.call('answer', media.sdp)
    await media.accept(answer)
    await expect(media.accept(answer)).rejects.toMatchObject({ code: 'wrong_state' })
    await until(
      () => seen.at(-1),
      (state) => state === 'connected',
    )
    const carrier = await converse(media, codec)
    await page.call('take', 'answer', await media.renegotiate(await page.call('offer', true)))
    const before = (await media.port.stats()).received
    await until(
      async () => (await media.port.stats()).received,
      (received) => received > before + 50,
    )
    await hangUp(media, carrier)
  })
})
