import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../edge/testing/test-clock.ts'
import { FilePlayer } from './file-player.ts'
import { FakeFfmpeg, ivfFrame, ivfHeader, opusPages } from './testing/fake-ffmpeg.ts'

const settled = () => new Promise(setImmediate)
/** Lets a process that is due start: the former one has ended, some time ago. */
const started = async () => {
  clock.advance(200)
  await settled()
}

let ffmpeg: FakeFfmpeg
let clock: TestClock
/** Calls of the listener, as lines. */
let heard: string[]

const playerOf = (facts = { hasVideo: true, hasAudio: true }): FilePlayer =>
  new FilePlayer(
    ffmpeg,
    clock,
    { file: 9, facts: { ...facts, durationMs: 60_000 } },
    {
      onPlace: () => heard.push('place'),
      onFrame: (atMs, data) => heard.push(`frame ${atMs} ${data}`),
      onPacket: (atMs, data) => heard.push(`packet ${atMs} ${Buffer.from(data)}`),
      onEnd: (error) => heard.push(`end ${error?.message ?? ''}`.trim()),
    },
  )

/** Argument that follows a flag. */
const argument = (flag: string): string | undefined => {
  const { args } = ffmpeg.last
  return args[args.indexOf(flag) + 1]
}

beforeEach(() => {
  ffmpeg = new FakeFfmpeg()
  clock = new TestClock()
  heard = []
})

describe('a player of a file', () => {
  it('plays pictures and sound in real time, and ends with the file', async () => {
    const player = playerOf()
    expect([player.isPaused, ffmpeg.processes.length]).toEqual([true, 0])
    player.play()
    expect(ffmpeg.last.args).toEqual(expect.arrayContaining(['-re', 'libvpx', 'libopus']))
    ffmpeg.last.stdout.write(Buffer.concat([ivfHeader(10), ivfFrame(0, 'a'), ivfFrame(1, 'b')]))
    ffmpeg.last.second.write(opusPages(['OpusHead', 'x', 'y']))
    await settled()
    expect(heard).toEqual(['place', 'frame 0 a', 'frame 100 b', 'packet 0 x', 'packet 20 y'])
    expect(player.positionMs).toBe(100)
    ffmpeg.last.end(0)
    await settled()
    expect(heard.at(-1)).toBe('end')
  })

  it('reads no lists of other files, and nothing but its descriptor', () => {
    playerOf().play()
    expect(argument('-protocol_whitelist')).toBe('file')
    expect(argument('-i')).toBe('/proc/self/fd/3')
    expect(argument('-format_whitelist')?.split(',')).not.toContain('hls')
  })

  it('shows one picture while it is paused, and continues there', async () => {
    const player = playerOf()
    player.play(2000)
    expect(argument('-ss')).toBe('2.000')
    const first = ffmpeg.last
    first.stdout.write(Buffer.concat([ivfHeader(10), ivfFrame(5, 'a')]))
    await settled()
    player.pause()
    player.pause()
    await started()
    expect([first.isKilled, ffmpeg.processes.length]).toEqual([true, 2])
    expect(argument('-ss')).toBe('2.500')
    expect(argument('-frames:v')).toBe('1')
    expect(ffmpeg.last.args).not.toContain('libopus')
    ffmpeg.last.stdout.write(Buffer.concat([ivfHeader(10), ivfFrame(0, 'still')]))
    ffmpeg.last.end(0)
    await settled()
    expect(heard.slice(1)).toEqual(['frame 500 a', 'place', 'frame 0 still'])
    expect(player.positionMs).toBe(2500)
    player.play()
    await started()
    expect([argument('-ss'), player.isPaused]).toEqual(['2.500', false])
  })

  it('goes to a place, paused or not, and drops what comes late from the former one', async () => {
    const player = playerOf()
    player.play()
    const former = ffmpeg.last
    player.seek(30_000)
    former.stdout.write(Buffer.concat([ivfHeader(10), ivfFrame(0, 'late')]))
    await started()
    expect(heard).toEqual(['place', 'place'])
    expect([argument('-ss'), ffmpeg.last.args.includes('-re')]).toEqual(['30.000', true])
    player.pause()
    player.seek(1000)
    await started()
    expect([argument('-ss'), ffmpeg.last.args.includes('-re')]).toEqual(['1.000', false])
  })

  it('starts one process at a time, and no more than one in 200 ms, for the last of many requests', async () => {
    const player = playerOf()
    player.play()
    const former = ffmpeg.last
    const end = Promise.withResolvers<void>()
    former.kill = () => void end.promise.then(() => former.end(255))
    for (const place of [1000, 2000, 3000]) player.seek(place)
    await started()
    expect([ffmpeg.processes.length, player.positionMs]).toEqual([1, 3000])
    end.resolve()
    await settled()
    expect([ffmpeg.processes.length, argument('-ss')]).toEqual([2, '3.000'])
    player.pause()
    player.seek(4000)
    await settled()
    clock.advance(199)
    expect(ffmpeg.processes.length).toBe(2)
    clock.advance(1)
    expect([ffmpeg.processes.length, argument('-ss'), argument('-frames:v')]).toEqual([3, '4.000', '1'])
    expect(heard).toEqual(['place', 'place', 'place'])
  })

  it('shows a picture in front of the end while it is paused there', () => {
    const player = playerOf()
    player.seek(60_000)
    expect([argument('-ss'), player.positionMs]).toEqual(['59.900', 60_000])
  })

  it('limits the threads and the pictures of its decoders', () => {
    playerOf().play()
    const { args } = ffmpeg.last
    expect(args.indexOf('-threads')).toBeLessThan(args.indexOf('-i'))
    expect(argument('-threads')).toBe('2')
    expect(args.slice(0, args.indexOf('-i'))).toContain('-max_pixels')
  })

  it('needs no process for the pause of a sound alone', async () => {
    const player = playerOf({ hasVideo: false, hasAudio: true })
    player.play()
    expect(ffmpeg.last.args).not.toContain('libvpx')
    player.pause()
    await started()
    expect(ffmpeg.processes.map(({ isKilled }) => isKilled)).toEqual([true])
  })

  it('ends with the reason if the process fails, is killed, or writes something else', async () => {
    playerOf().play()
    ffmpeg.last.end(1, 'Invalid data')
    await settled()
    playerOf().play()
    ffmpeg.last.kill()
    await settled()
    playerOf().play()
    ffmpeg.last.stdout.write(Buffer.alloc(40))
    await settled()
    expect(heard.filter((line) => line !== 'place')).toEqual([
      'end Invalid data',
      'end ffmpeg was ended',
      'end IVF: a stream of VP8 expected',
    ])
    expect(ffmpeg.last.isKilled).toBe(true)
  })

  it('is closed when its process has ended, after 3 s at the latest', async () => {
    const closed: string[] = []
    const closing = (name: string): FilePlayer => {
      const player = playerOf()
      player.play()
      ffmpeg.last.isSlow = true
      void player.close().then(() => closed.push(name))
      return player
    }
    await playerOf().close()
    closing('ended')
    await settled()
    expect(closed).toEqual([])
    ffmpeg.last.end(1)
    await settled()
    expect(closed).toEqual(['ended'])
    const hangs = closing('hangs')
    clock.advance(2999)
    await settled()
    expect(closed).toEqual(['ended'])
    clock.advance(1)
    await settled()
    expect(closed).toEqual(['ended', 'hangs'])
    ffmpeg.last.end(1)
    await hangs.close()
    expect([clock.running, heard]).toEqual([0, ['place', 'place']])
  })

  it('says nothing after it was closed', async () => {
    const player = playerOf()
    player.play()
    void player.close()
    player.play()
    await started()
    expect([heard, ffmpeg.processes.length, ffmpeg.last.isKilled]).toEqual([['place'], 1, true])
  })
})
