import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Ffmpeg, findFfmpeg } from './ffmpeg.ts'
import { readFileFacts } from './file-facts.ts'
import { FakeProcess } from './testing/fake-ffmpeg.ts'

/** Opens a file with this content, for the time of the test. */
const fileWith = async (content: string): Promise<number> => {
  const path = join(tmpdir(), `trunkline-test-${process.pid}`)
  writeFileSync(path, content)
  const handle = await open(path, 'r+')
  onTestFinished(() => handle.close())
  return handle.fd
}

/** Facts of a file that ffprobe describes so. */
const factsOf = (description: object) => {
  const probe = () => {
    const process = new FakeProcess([])
    process.stdout.on('end', () => process.end(0))
    process.stdout.end(JSON.stringify(description))
    return process
  }
  return readFileFacts({ probe }, 0)
}

describe('ffmpeg', () => {
  it('is missing if its path is another program, or none', async () => {
    expect(await findFfmpeg('/nowhere/ffmpeg')).toMatch('ENOENT')
    expect(await findFfmpeg('/bin/true')).toBe('/bin/true is not ffmpeg')
  })

  it('is asked for the pictures, the sound and the duration of a file', async () => {
    const streams = [{ codec_type: 'audio' }, { codec_type: 'video', disposition: { attached_pic: 1 } }]
    expect(await factsOf({ streams, format: { duration: '2.5' } })).toEqual({
      hasVideo: false,
      hasAudio: true,
      durationMs: 2500,
    })
    expect(await factsOf({ streams: [{ codec_type: 'video' }] })).toEqual({
      hasVideo: true,
      hasAudio: false,
      durationMs: undefined,
    })
    await expect(factsOf({ streams: [] })).rejects.toMatchObject({ code: 'empty_file' })
  })

  it('is ended with the question about a file', async () => {
    const end = new AbortController()
    const ffprobe = new FakeProcess([])
    const facts = readFileFacts({ probe: () => ffprobe }, 0, end.signal)
    end.abort()
    await expect(facts).rejects.toThrow('it was ended')
    expect(ffprobe.isKilled).toBe(true)
    await expect(readFileFacts({ probe: () => expect.unreachable() }, 0, end.signal)).rejects.toThrow()
  })

  it('does not start at the limit of descriptors, and the gateway goes on', () => {
    const script = `
      import { closeSync, openSync } from 'node:fs'
      import { findFfmpeg } from '${join(import.meta.dirname, 'ffmpeg.ts')}'
      const files = []
      try {
        for (;;) files.push(openSync('/dev/null'))
      } catch {}
      const found = await findFfmpeg('/bin/true')
      for (const file of files) closeSync(file)
      console.log(found)`
    const command = `ulimit -n 64 && exec "$0" --input-type=module -e "$1"`
    const { stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, script])
    expect(`${stdout}${stderr}`).toBe('spawn /bin/true EMFILE\n')
  })
})

const found = await findFfmpeg('/usr/bin/ffmpeg')

describe.skipIf(typeof found === 'string')(
  `the installed ffmpeg (${typeof found === 'string' ? found : 'found'})`,
  () => {
    const ffmpeg = found as Ffmpeg

    it('has a version', () => {
      expect(ffmpeg.version).toMatch(/^\S+$/)
    })

    it.each([
      ['a list of files', '#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n'],
      ['a script of files', "ffconcat version 1.0\nfile '/etc/hostname'\n"],
      ['a text', 'hello'],
      ['nothing', ''],
    ])('reads no %s', async (_name, content) => {
      await expect(readFileFacts(ffmpeg, await fileWith(content))).rejects.toThrow()
    })
  },
)
