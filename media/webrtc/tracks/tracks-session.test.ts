import { beforeEach, describe, expect, it } from 'vitest'
import { candidatesOf } from '../listen-addresses.ts'
import type { MediaWorker } from '../worker-supervisor.ts'
import { TracksSession } from './tracks-session.ts'

const fingerprint = Array(32).fill('AB').join(':')

/** Returns a browser's answer to an offer, with each m-line changed. */
const answerTo = (
  offer: string,
  change: (section: string, index: number) => string = (same) => same,
): string => {
  const [head, ...sections] = offer.split(/^(?=m=)/m)
  return [
    head!.replace('a=ice-lite\r\n', ''),
    ...sections.map((section, index) =>
      change(
        section
          .replace('a=sendonly', 'a=recvonly')
          .replace('a=setup:actpass', 'a=setup:active')
          .replace(/a=(ssrc|msid|candidate|end-of).*\r\n/g, ''),
        index,
      ),
    ),
  ].join('')
}

describe('a session of lines', () => {
  let transport: { closed: boolean; iceState: string; dtlsState: string; connected: object[] }
  let listeners: (() => void)[]
  let worker: MediaWorker

  beforeEach(() => {
    listeners = []
    const fake = {
      closed: false,
      iceState: 'new',
      dtlsState: 'new',
      connected: [] as object[],
      on: (_name: string, listener: () => void) => listeners.push(listener),
      observer: { once: () => {} },
      iceParameters: { usernameFragment: 'abcdefgh', password: 'p'.repeat(24) },
      dtlsParameters: { fingerprints: [{ algorithm: 'sha-256', value: fingerprint }] },
      connect: async (parameters: object) => void fake.connected.push(parameters),
      close: () => {
        fake.closed = true
      },
    }
    transport = fake
    worker = {
      routers: { video: async () => ({ createWebRtcTransport: async () => fake }) },
      server: {},
      candidates: candidatesOf(['203.0.113.5'], 44_444),
      transports: new Set(),
      owners: new Set(),
    } as unknown as MediaWorker
  })

  const open = async (lines = 2) => {
    const session = await TracksSession.open(worker, lines)
    const accepted: (readonly string[])[] = []
    session.onAccepted((mids) => accepted.push(mids))
    return { session, accepted }
  }

  it('offers its lines and the one of the probes on one transport, with the ids that mediasoup writes', async () => {
    const { session } = await open()
    expect(session.sdp).toContain('a=group:BUNDLE 0 1 probator\r\n')
    expect(session.sdp.match(/^m=.*$/gm)).toEqual([
      'm=video 44444 UDP/TLS/RTP/SAVPF 96',
      'm=video 44444 UDP/TLS/RTP/SAVPF 96',
      'm=video 44444 UDP/TLS/RTP/SAVPF 127',
    ])
    expect(session.sdp.match(/^a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid$/gm)).toHaveLength(3)
    expect(session.sdp.match(/^a=sendonly$/gm)).toHaveLength(3)
    expect(session.sdp.match(/^a=ssrc:.*$/gm)).toEqual([
      'a=ssrc:1234 cname:probator',
      'a=ssrc:1234 msid:trunkline probator',
    ])
  })

  it('has the lines that the browser accepts', async () => {
    const { session, accepted } = await open(3)
    const answer = answerTo(session.sdp, (section, index) =>
      index === 1 ? section.replace(/^m=video \d+/, 'm=video 0') : section,
    )
    await session.accept(answer)
    expect(accepted).toEqual([['0', '2']])
    expect(transport.connected).toHaveLength(1)
    await expect(session.accept(answer)).rejects.toMatchObject({ code: 'wrong_state' })
  })

  it('rejects another number of lines than 1 to 25, and opens nothing', async () => {
    for (const lines of [0, 26, 1.5, Number.NaN]) await expect(open(lines)).rejects.toThrow(RangeError)
    expect(worker.owners.size).toBe(0)
  })

  it('rejects a wrong answer with a reason, after which another may follow', async () => {
    const { session, accepted } = await open()
    const good = answerTo(session.sdp)
    const [line] = good.match(/^m=video[\s\S]*?(?=^m=)/m)!
    const wrong: readonly [answer: string, code: string, message: string][] = [
      ['', 'bad_sdp', 'v=0 expected'],
      [good + line.replace('a=mid:0', 'a=mid:9'), 'bad_sdp', '3 m-lines expected'],
      [`${good}${line.repeat(100)}`, 'bad_sdp', 'at most'],
      [good.replace('a=mid:1', 'a=mid:7'), 'bad_sdp', 'a=mid:1 expected'],
      [good.replace('m=video', 'm=audio'), 'bad_sdp', 'video with a=mid:0 expected'],
      [good.replaceAll(' 96', ' 97').replaceAll(':96 ', ':97 '), 'bad_sdp', 'payload type 96 expected'],
      [good.replace(/a=extmap:1 .*\r\n/g, ''), 'no_common_codec', 'no line was accepted'],
      [good.replace(/^m=video \d+/gm, 'm=video 0'), 'no_common_codec', 'no line was accepted'],
    ]
    for (const [answer, code, message] of wrong)
      await expect(session.accept(answer)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      })
    expect([accepted, transport.connected]).toEqual([[], []])
    await session.accept(good)
    expect(accepted).toEqual([['0', '1']])
  })

  it('ends once: with its path, its process, or by its owner', async () => {
    const ends: string[] = []
    const { session } = await open()
    session.onEnd(() => ends.push('path'))
    transport.iceState = 'disconnected'
    for (const listener of listeners) listener()
    expect([transport.closed, ends, worker.owners.size]).toEqual([true, ['path'], 0])
    await session.close()
    session.lost()
    expect(ends).toEqual(['path'])
    const other = await open()
    other.session.onEnd(() => ends.push('process'))
    other.session.lost()
    other.session.onEnd(() => ends.push('late'))
    expect(ends).toEqual(['path', 'process', 'late'])
  })
})
