import { beforeEach, describe, expect, it } from 'vitest'
import { dominant, goertzel, sine } from '../codecs/tone.ts'
import type { AudioSink } from '../rtp/audio-sinks.ts'
import { rateOf, TestVoice, testCodecs } from '../rtp/testing/codecs.ts'
import { discontinuities, type TestLine, TestTime } from '../rtp/testing/session-line.ts'
import { ThreadMixer } from './thread-mixer.ts'

const tones = [600, 900, 1300] as const
const codecs = ['PCMU', 'G722', 'opus'] as const

describe('a mixer with ports of three codecs', () => {
  let time: TestTime
  let lines: TestLine[]
  let voices: TestVoice[]
  let room: ThreadMixer
  let played: number[]
  let speakers: (number | undefined)[]
  let talkers: (readonly [port: number, isTalking: boolean])[]

  beforeEach(() => {
    time = new TestTime()
    lines = ['192.0.2.1', '198.51.100.1', '203.0.113.1'].map((address) => time.line(address))
    voices = codecs.map((codec, i) => new TestVoice(codec, tones[i]!))
    played = []
    speakers = []
    talkers = []
    room = new ThreadMixer({
      onPlayed: (play) => played.push(play),
      onWake: () => {},
      onSpeaker: (port) => speakers.push(port),
      onTalking: (port, talk) => talk !== 'speaking' && talkers.push([port, talk === 'talking']),
    })
    lines.forEach((line, i) => {
      line.set({ codec: codecs[i]! })
      room.add(i + 1, {}, line.session)
    })
    time.between = () => {
      if (room.isFramed) room.mix()
    }
  })

  const talk = (ms: number, who = [0, 1, 2]) =>
    time.pass(ms, () => {
      for (const i of who) lines[i]!.say(voices[i]!)
    })

  /** Returns the tones that a port received in the last second. */
  const heard = (i: number): number[] => {
    const line = lines[i]!
    const codec = codecs[i]!
    const samples = line.audio(codec).slice(-rateOf(codec) / 2)
    return [...tones, 440].filter((tone) => goertzel(samples, tone, rateOf(codec)) > 0.1)
  }

  it('lets each port hear the others, but not itself', () => {
    talk(2000)
    expect([0, 1, 2].map(heard)).toEqual([
      [900, 1300],
      [600, 1300],
      [600, 900],
    ])
    for (const line of lines) expect(discontinuities(line.sent)).toEqual([])
  })

  it('gives the sum of all as Opus, a packet per frame, until it is ended', () => {
    const decoder = testCodecs.decoder('opus', 48_000)
    const heard = new Int16Array(48_000)
    let packets = 0
    const delays: number[] = []
    room.encode(testCodecs, (packet, delayMs) => {
      delays.push(delayMs)
      const at = (packets++ % 50) * 960
      const frame = new Int16Array(5760)
      expect(decoder.decode(packet, 0, packet.length, frame)).toBe(960)
      heard.set(frame.subarray(0, 960), at)
    })
    talk(2000)
    expect(packets).toBe(100)
    expect(tones.filter((tone) => goertzel(heard, tone, 48_000) > 0.05)).toEqual([...tones])
    // The buffers of the ports, and the frame itself.
    expect([Math.min(...delays) >= 20, Math.max(...delays) <= 220]).toEqual([true, true])
    for (const port of [1, 2, 3]) room.remove(port)
    talk(200, [])
    expect([packets, room.isFramed]).toEqual([110, true])
    room.encode(testCodecs, undefined)
    expect(room.isFramed).toBe(false)
    decoder.close()
  })

  it('continues when one leaves, which then hears nothing of it', () => {
    talk(1000)
    room.remove(3)
    for (const line of lines) line.sent.length = 0
    talk(1500)
    expect([0, 1].map(heard)).toEqual([[900], [600]])
    // A second of silence, so that its jitter buffer has no loss to conceal.
    expect([heard(2), lines[2]!.sent.length]).toEqual([[], 50])
    expect([lines[2]!.session.isFramed, room.isFramed]).toEqual([false, true])
    lines[0]!.session.close(time.now)
    lines[1]!.session.detach()
    time.pass(20)
    expect(room.isFramed).toBe(false)
  })

  it('loses a port that is joined to another, and whispers to one', () => {
    room.change(1, { audibleTo: [2] })
    talk(1500)
    expect([heard(1), heard(2)]).toEqual([[600, 1300], [900]])
    lines[0]!.session.join(lines[2]!.session)
    talk(1500)
    expect([heard(0), heard(2), heard(1)]).toEqual([[1300], [600], []])
    expect(room.isFramed).toBe(true)
    room.close()
    expect(room.isFramed).toBe(false)
  })

  it('plays to all, passes the sum to sinks, and reports the end', () => {
    const total: number[] = []
    let closed = false
    const sink: AudioSink = {
      rate: 16_000,
      tracks: 'in',
      write: (input) => total.push(...(input ?? new Int16Array(320))),
      close: () => {
        closed = true
      },
    }
    room.addSink(sink)
    room.promptMixer.play(7, sine(440, 1000), 8000, 1, 0)
    talk(1000, [])
    expect([0, 1, 2].map(heard)).toEqual([[440], [440], [440]])
    expect(dominant(total.slice(-8000), 16_000)).toBe(440)
    time.pass(20)
    expect(played).toEqual([7])
    room.close()
    expect([closed, room.isFramed]).toEqual([true, false])
  })

  it('reports the active speaker, and silence', () => {
    talk(1000, [1])
    expect(speakers).toEqual([2])
    talk(1000, [])
    talk(1000, [0])
    expect(speakers).toEqual([2, 1])
    talk(4000, [])
    expect(speakers).toEqual([2, 1, undefined])
  })

  it('reports the ports that talk, and those that leave while they talk', () => {
    talk(1000, [1])
    expect(talkers).toEqual([[2, true]])
    room.remove(2)
    expect(talkers).toEqual([
      [2, true],
      [2, false],
    ])
  })
})
