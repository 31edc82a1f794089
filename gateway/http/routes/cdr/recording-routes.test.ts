import { unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RecordingOrder } from '../../../calls/audio/recording-store.ts'
import type { Recordings } from '../../../recordings/recordings.ts'
import { FakeRecorder, silentWav, wanted } from '../../../recordings/testing/fake-recorder.ts'
import { ApiTestSite, asProject, theirs } from '../../testing/api-test-site.ts'

const ours = asProject()
const basic = (id: string, apiToken: string) => asProject({ id, apiToken })
let rig: ApiTestSite
let recordings: Recordings

beforeAll(async () => {
  rig = await ApiTestSite.open()
  recordings = rig.recordings
})
afterAll(() => rig.close())

/** A recording that is over, with a file of so many ms. */
const recorded = async (ms = 100, of: Partial<RecordingOrder> = {}): Promise<string> => {
  const port = new FakeRecorder()
  const kept = recordings.start(port, { ...wanted, ...of })
  const file = silentWav(ms)
  await writeFile(port.last.request.path, file)
  port.last.finish({ end: { kind: 'silence' }, durationMs: ms, bytes: file.length, hasFile: true })
  await kept.done
  return kept.id
}

const get = (url: string, headers: Record<string, string> = {}) => rig.site.inject({ url, headers })
const errorOf = (answer: { json(): { errors: { code: string }[] } }) => answer.json().errors[0]?.code
/** Without the host. */
const linkTo = (id: string) => recordings.linkTo(id).replace('https://gw.example', '')

describe('the audio of a recording', () => {
  it('is sent as a whole to a client with the link', async () => {
    const id = await recorded()
    const answer = await get(linkTo(id))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'audio/wav',
      'content-length': '1644',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'content-disposition': `inline; filename="${id}.wav"`,
      'x-content-type-options': 'nosniff',
    })
    expect(answer.rawPayload.toString('latin1', 0, 4)).toBe('RIFF')
  })

  it('is sent in ranges', async () => {
    const id = await recorded()
    const part = await get(linkTo(id), { range: 'bytes=40-43' })
    expect([part.statusCode, part.headers['content-range']]).toEqual([206, 'bytes 40-43/1644'])
    expect(part.rawPayload.readUInt32LE()).toBe(1600)
    expect((await get(linkTo(id), { range: 'bytes=2000-' })).statusCode).toBe(416)
  })

  it('has the type of its format', async () => {
    const id = await recorded(100, { request: { format: 'mp3', tracks: 'both' } })
    expect((await get(linkTo(id))).headers['content-type']).toBe('audio/mpeg')
  })

  it('is sent to the project with its token', async () => {
    const id = await recorded()
    expect((await get(`/api/recordings/${id}/audio`, ours)).statusCode).toBe(200)
  })

  it('is rejected with an expired or forged link, also with valid credentials', async () => {
    const id = await recorded()
    const other = await recorded()
    const link = linkTo(id)
    const foreign = link.replace(id, other)
    const longer = link.replace(/expires=\d+/, (text) => `${text}0`)
    for (const url of [foreign, longer]) {
      const answer = await get(url, ours)
      expect([answer.statusCode, errorOf(answer)]).toEqual([401, 'unauthorized'])
    }
    rig.clock.advance(3_600_000)
    expect((await get(link)).json()).toMatchObject({
      errors: [{ message: expect.stringContaining('expired') }],
    })
  })

  it.each(['?expires=1', '?signature=x', '?expires=x&signature=x', `?expires=1&signature=${'!'.repeat(43)}`])(
    'is a malformed request with %s',
    async (query) => {
      const id = await recorded()
      expect((await get(`/api/recordings/${id}/audio${query}`, ours)).statusCode).toBe(422)
    },
  )

  it('is unavailable during the recording, and if it has no audio', async () => {
    const port = new FakeRecorder()
    const { id, done } = recordings.start(port, wanted)
    const early = await get(linkTo(id))
    expect([early.statusCode, errorOf(early)]).toEqual([409, 'recording_in_progress'])
    port.last.stop()
    await done
    const empty = await get(linkTo(id))
    expect([empty.statusCode, errorOf(empty)]).toEqual([404, 'unknown_recording'])
  })

  it('is reported as missing if its file is gone', async () => {
    const id = await recorded()
    await unlink(join(rig.folder, 'recordings', 'p1', `${id}.wav`))
    const answer = await get(linkTo(id))
    expect([answer.statusCode, errorOf(answer)]).toEqual([404, 'unknown_recording'])
    expect(answer.json()).toMatchObject({
      errors: [{ message: expect.stringContaining('The file of the recording does not exist.') }],
    })
    expect(answer.headers['content-disposition']).toBeUndefined()
    expect(answer.headers['content-type']).toContain('json')
  })

  it.each([
    '/api/recordings/../../etc/passwd/audio',
    '/api/recordings/..%2f..%2fsecret.key/audio',
    '/api/recordings/%2e%2e/audio',
    '/api/recordings//audio',
  ])('cannot be reached by %s', async (url) => {
    expect((await get(url, ours)).statusCode).toBeGreaterThanOrEqual(400)
  })
})

describe('a recording', () => {
  it('is returned to its project with a new link', async () => {
    const id = await recorded()
    const answer = await get(`/api/recordings/${id}`, ours)
    const at = new Date(rig.clock.now()).toISOString()
    expect(answer.json()).toEqual({
      id,
      project_id: 'p1',
      call_id: 'c1',
      leg_id: 'l1',
      status: 'completed',
      end_reason: 'silence',
      format: 'wav',
      channels: 1,
      sample_rate: 8000,
      started_at: at,
      ended_at: at,
      duration_ms: 100,
      bytes: 1644,
      url: recordings.linkTo(id),
    })
  })

  it('is hidden from others', async () => {
    const id = await recorded()
    const wrong: Record<string, string>[] = [
      {},
      basic('p1', 'another-token-as-long'),
      basic('p2', 'token-of-the-first-project'),
      { authorization: 'Bearer x' },
      { authorization: 'Basic !' },
    ]
    for (const headers of wrong) {
      const answer = await get(`/api/recordings/${id}`, headers)
      expect([answer.statusCode, errorOf(answer)]).toEqual([401, 'unauthorized'])
      expect(answer.headers['www-authenticate']).toContain('Basic')
    }
    const others = await recorded(100, { projectId: 'p2' })
    expect(errorOf(await get(`/api/recordings/${others}`, ours))).toBe('unknown_recording')
  })
})

describe('lists of recordings', () => {
  const list = async (query: string, headers = ours) => {
    const { data, links } = (await get(`/api/recordings?${query}`, headers)).json()
    return {
      ids: data.map(({ id }: { id: string }) => id),
      statuses: data.map(({ status }: { status: string }) => status),
      links,
    }
  }

  it('are filtered by call and time, in pages, the newest first', async () => {
    const ids: string[] = []
    for (let i = 0; i < 3; i++) {
      rig.clock.advance(60_000)
      ids.unshift(await recorded(100, { callId: 'listed' }))
    }
    const since = new Date(rig.clock.now() - 60_000).toISOString()
    expect((await list('call_id=listed')).ids).toEqual(ids)
    expect((await list(`call_id=listed&started_from=${since}`)).ids).toEqual(ids.slice(0, 2))
    expect((await list(`call_id=listed&started_until=${since}`)).ids).toEqual(ids.slice(2))
    const first = await list('call_id=listed&page_size=2')
    expect([first.ids, first.links.next]).toEqual([ids.slice(0, 2), expect.stringContaining('page_number=1')])
    const next = await list(first.links.next.split('?')[1])
    expect([next.ids, next.links.next]).toEqual([ids.slice(2), undefined])
    expect((await list('call_id=listed', asProject(theirs))).ids).toEqual([])
    expect((await get('/api/recordings?started_from=soon', ours)).statusCode).toBe(422)
  })

  it('show paused recordings', async () => {
    const port = new FakeRecorder()
    const kept = recordings.start(port, { ...wanted, callId: 'paused' })
    kept.pause('skip')
    expect((await list('call_id=paused')).statuses).toEqual(['paused'])
    kept.resume()
    expect((await list('call_id=paused')).statuses).toEqual(['in-progress'])
    port.last.stop()
    await kept.done
  })
})

describe('removing a recording', () => {
  const remove = (id: string, headers = ours) =>
    rig.site.inject({ method: 'DELETE', url: `/api/recordings/${id}`, headers })

  it('removes its file and its row', async () => {
    const before = recordings.bytes
    const id = await recorded()
    const link = linkTo(id)
    expect((await remove(id)).statusCode).toBe(204)
    expect((await get(link)).statusCode).toBe(404)
    expect((await remove(id)).statusCode).toBe(404)
    expect(recordings.bytes).toBe(before)
    const { values } = await rig.metrics.recordingsRemoved.get()
    expect(values).toMatchObject([{ labels: { by: 'request' }, value: 1 }])
  })

  it('requires the token, and an ended recording', async () => {
    const id = await recorded()
    expect((await remove(id, basic('p1', 'wrong'))).statusCode).toBe(401)
    const port = new FakeRecorder()
    const running = recordings.start(port, wanted)
    expect(errorOf(await remove(running.id))).toBe('recording_in_progress')
    port.last.stop()
    expect((await get(linkTo(id))).statusCode).toBe(200)
  })
})

it('limits guesses of tokens', async () => {
  rig.clock.advance(60_000)
  const id = await recorded()
  const guess = () => get(`/api/recordings/${id}`, basic('p1', 'guess'))
  for (let i = 0; i < 30; i++) expect((await guess()).statusCode).toBe(401)
  const answer = await guess()
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '60'])
  // Wrong tokens from the same address must not lock out a valid token.
  expect((await get(`/api/recordings/${id}`, ours)).statusCode).toBe(200)
})
