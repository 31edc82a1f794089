import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../../../calls/testing/calls-fixture.ts'
import { FakeScopableCall } from '../../../calls/testing/fake-scopable-call.ts'
import { RecordingRig, silentWav } from '../../../recordings/testing/fake-recorder.ts'
import { CompatTestSite, ours } from '../../testing/compat-test-site.ts'

const recording = new RecordingRig()
let rig: CompatTestSite

beforeEach(async () => {
  rig = await CompatTestSite.open(recording, await recording.open())
})

const answered = () => {
  const control = new FakeScopableCall({ callId: randomUUID(), projectId: ours })
  rig.answered(control)
  return { control, id: control.info.callId }
}

describe('the account', () => {
  it('is the project', async () => {
    for (const path of ['', '.json']) {
      const answer = await rig.ask('GET', path)
      expect(answer.json()).toMatchObject({
        sid: ours,
        friendly_name: 'the project',
        status: 'active',
        type: 'Full',
        auth_token: null,
        subresource_uris: { laml_bins: expect.stringMatching(/\/LamlBins$/) },
      })
    }
  })
})

describe('recordings of a call', () => {
  it('can be started, paused, resumed and stopped, and their callbacks have their URL', async () => {
    const { id } = answered()
    const path = `/Calls/${id}/Recordings`
    const begun = await rig.ask('POST', `${path}.json`, [
      ...Object.entries({
        RecordingChannels: 'dual',
        Trim: 'trim-silence',
        RecordingStatusCallback: 'https://app.example/recorded',
      }),
      ['RecordingStatusCallbackEvent', 'in-progress'],
      ['RecordingStatusCallbackEvent', 'completed'],
    ])
    expect(begun.json()).toMatchObject({
      call_sid: id,
      account_sid: ours,
      channels: '2',
      status: 'in-progress',
      duration: null,
      end_time: null,
      media_url: null,
    })
    const { sid } = begun.json()
    const states = []
    const forms = [
      'Status=paused&PauseBehavior=skip',
      'Status=in-progress',
      'Status=paused',
      'Status=stopped',
    ]
    for (const form of forms) states.push((await rig.ask('POST', `${path}/${sid}.json`, form)).json().status)
    expect([states, rig.recorder.last.requests]).toEqual([
      ['paused', 'in-progress', 'paused', 'absent'],
      ['pause skip', 'resume', 'pause silence'],
    ])
    const fields = rig.callbacks.map(({ url, body }) => [
      url,
      Object.fromEntries(new URLSearchParams(body?.text)),
    ])
    expect(fields).toEqual(
      ['in-progress', 'completed'].map((status) => [
        'https://app.example/recorded',
        expect.objectContaining({
          CallSid: id,
          AccountSid: ours,
          RecordingSid: sid,
          RecordingStatus: status,
          RecordingChannels: '2',
          RecordingSource: 'StartCallRecordingApi',
        }),
      ]),
    )
    const late = await rig.ask('POST', `${path}/${sid}`, { Status: 'paused' })
    expect([late.statusCode, late.json().code]).toEqual([409, 21220])
    expect((await rig.ask('GET', path)).json().recordings).toHaveLength(1)
    expect((await rig.ask('DELETE', `${path}/${sid}.json`)).statusCode).toBe(204)
    expect((await rig.ask('GET', `${path}/${sid}`)).json().code).toBe(20404)
  })

  it.each([
    [{}, 'both', '1'],
    [{ RecordingChannels: 'dual' }, 'stereo', '2'],
    [{ RecordingTrack: 'outbound' }, 'out', '1'],
    [{ RecordingChannels: 'dual', RecordingTrack: 'inbound' }, 'in', '1'],
  ])('with %j have the tracks %s on %s channels', async (form, tracks, channels) => {
    const { id } = answered()
    const callback = {
      RecordingStatusCallback: 'https://app.example/r',
      RecordingStatusCallbackEvent: 'in-progress',
    }
    const begun = await rig.ask('POST', `/Calls/${id}/Recordings`, { ...form, ...callback })
    expect([begun.json().channels, rig.recorder.last.request.tracks]).toEqual([channels, tracks])
    const fields = new URLSearchParams(rig.callbacks[0]?.body?.text)
    expect(fields.get('RecordingChannels')).toBe(channels)
  })

  it('cannot start on an unanswered, an ended or an unknown call', async () => {
    const ringing = rig.calls.add({ status: 'ringing' })
    rig.live.set(ringing.id, { state: 'ringing', redirect: () => {}, end: () => {} })
    const over = rig.calls.add({ status: 'completed', endedAt: 1 })
    const answers = []
    for (const id of [ringing.id, over.id, randomUUID(), 'none'])
      answers.push((await rig.ask('POST', `/Calls/${id}/Recordings`, {})).json().code)
    expect(answers).toEqual([21220, 21220, 20404, 20404])
    const { control, id } = answered()
    control.end()
    control.startStream = () => Promise.reject(new Error('not this'))
    const streams = await rig.ask('POST', `/Calls/${id}/Streams`, { Url: 'https://app.example' })
    expect([streams.statusCode, streams.json().code]).toEqual([400, 31922])
  })
})

describe('recordings', () => {
  const recorded = async () => {
    const { id } = answered()
    const begun = (await rig.ask('POST', `/Calls/${id}/Recordings`, {})).json()
    const file = silentWav(1_000)
    await writeFile(rig.recorder.last.request.path, file)
    rig.recorder.last.finish({
      end: { kind: 'silence' },
      durationMs: 1_000,
      bytes: file.length,
      hasFile: true,
    })
    await expect
      .poll(async () => (await rig.ask('GET', `/Recordings/${begun.sid}`)).json().status)
      .toBe('completed')
    return { sid: begun.sid as string, callId: id, file: rig.recorder.last.request.path }
  }

  it('can be listed by call and time, fetched, played and removed', async () => {
    const one = await recorded()
    const other = await recorded()
    const list = async (query: string) =>
      (await rig.ask('GET', `/Recordings.json${query}`))
        .json()
        .recordings.map(({ sid }: { sid: string }) => sid)
    const now = new Date(recording.clock.now()).toISOString().slice(0, 10)
    expect(new Set(await list(''))).toEqual(new Set([one.sid, other.sid]))
    expect(await list(`?CallSid=${one.callId}`)).toEqual([one.sid])
    expect(await list(`?DateCreated%3E=${now}&CallSid=${one.callId}`)).toEqual([one.sid])
    expect(await list('?DateCreated%3C=1969-01-01')).toEqual([])
    const shown = (await rig.ask('GET', `/Recordings/${one.sid}.json`)).json()
    expect(shown).toMatchObject({ status: 'completed', duration: '1', channels: '1', price: null })
    const sound = await rig.ask('GET', `/Recordings/${one.sid}.wav`)
    expect([sound.headers['content-type'], sound.rawPayload.length]).toEqual(['audio/wav', 16_044])
    const mp3 = await rig.ask('GET', `/Recordings/${one.sid}.mp3`)
    expect([mp3.statusCode, mp3.json().code]).toEqual([404, 20404])
    expect((await rig.ask('DELETE', `/Recordings/${one.sid}.json`)).statusCode).toBe(204)
    await expect(readFile(one.file)).rejects.toThrow()
  })
})

describe('streams of a call', () => {
  it('start with their parameters, and can be stopped', async () => {
    const { control, id } = answered()
    const begun = await rig.ask('POST', `/Calls/${id}/Streams.json`, {
      Url: 'wss://app.example/audio',
      Name: 'live',
      Track: 'both_tracks',
      'Parameter1.Name': 'order',
      'Parameter1.Value': '7',
    })
    expect(begun.json()).toMatchObject({
      call_sid: id,
      account_sid: ours,
      name: 'live',
      status: 'in-progress',
    })
    expect(control.verbs).toEqual([
      [
        'startStream',
        { url: 'wss://app.example/audio', name: 'live', tracks: 'both', parameters: { order: '7' } },
      ],
    ])
  })
})

describe('conferences', () => {
  const join = async () => {
    const caller = rig.rooms.caller(ours)
    void rig.conferences.join(caller.call, caller.control, { name: 'sales' })
    await settle()
    return caller
  }

  it('can be listed and fetched with their participants, played an announcement, and ended', async () => {
    const a = await join()
    const b = await join()
    const [conference] = (await rig.ask('GET', '/Conferences.json?Status=in-progress')).json().conferences
    expect(conference).toMatchObject({ friendly_name: 'sales', status: 'in-progress', account_sid: ours })
    expect((await rig.ask('GET', '/Conferences?FriendlyName=other')).json().conferences).toEqual([])
    const path = `/Conferences/${conference.sid}`
    const people = async (query = '') =>
      (await rig.ask('GET', `${path}/Participants.json${query}`)).json().participants
    expect(await people()).toMatchObject(
      [a, b].map(({ call }) => ({ call_sid: call.id, muted: false, hold: false, status: 'connected' })),
    )
    const one = `${path}/Participants/${a.call.id}.json`
    const held = await rig.ask('POST', one, {
      Muted: 'true',
      Hold: 'true',
      HoldUrl: 'https://app.example/hold',
      HoldMethod: 'GET',
      AnnounceUrl: 'https://app.example/news',
    })
    expect(held.json()).toMatchObject({ call_sid: a.call.id, muted: true, hold: true })
    expect(rig.sideDocuments.map(([id, handler]) => [id, 'url' in handler && handler.url])).toEqual([
      [a.call.id, 'https://app.example/hold'],
      [a.call.id, 'https://app.example/news'],
    ])
    expect((await people('?Muted=true')).map((each: { call_sid: string }) => each.call_sid)).toEqual([
      a.call.id,
    ])
    await rig.ask('POST', one, { Hold: 'false' })
    expect((await rig.ask('GET', one)).json()).toMatchObject({ hold: false })
    expect((await rig.ask('DELETE', one)).statusCode).toBe(204)
    await settle()
    expect((await people()).map((each: { call_sid: string }) => each.call_sid)).toEqual([b.call.id])
    const ended = await rig.ask('POST', path, { Status: 'completed' })
    expect(ended.json()).toMatchObject({ sid: conference.sid, status: 'completed' })
    await settle()
    expect((await rig.ask('GET', path)).json().code).toBe(20404)
  })

  it('can change a participant’s coach, end on exit, and wait document', async () => {
    const a = await join()
    const [{ sid }] = (await rig.ask('GET', '/Conferences.json')).json().conferences
    const of = (call: string) => `/Conferences/${sid}/Participants/${call}.json`
    await rig.ask('POST', of(a.call.id), { WaitUrl: 'https://app.example/wait', WaitMethod: 'GET' })
    await settle()
    expect(rig.sideDocuments).toMatchObject([[a.call.id, { url: 'https://app.example/wait', method: 'GET' }]])
    const b = await join()
    const coaching = {
      Coaching: 'true',
      CallSidToCoach: b.call.id,
      EndConferenceOnExit: 'true',
      BeepOnExit: 'false',
    }
    expect((await rig.ask('POST', of(a.call.id), coaching)).json()).toMatchObject({
      coaching: true,
      call_sid_to_coach: b.call.id,
      end_conference_on_exit: true,
    })
    expect((await rig.ask('POST', of(a.call.id), { Coaching: 'false' })).json()).toMatchObject({
      coaching: false,
      call_sid_to_coach: null,
      end_conference_on_exit: true,
    })
    for (const wrong of [
      { Coaching: 'true' },
      { CallSidToCoach: 'unknown' },
      { CallSidToCoach: a.call.id },
    ]) {
      const answer = await rig.ask('POST', of(a.call.id), Object.entries(wrong))
      expect([answer.statusCode, answer.json().message]).toEqual([
        400,
        expect.stringContaining('CallSidToCoach'),
      ])
    }
  })
})

describe('queues', () => {
  it('are listed with waiting callers, and can send the next caller to another document', async () => {
    const callers = [rig.rooms.caller(ours), rig.rooms.caller(ours)]
    for (const { call, control } of callers) {
      void rig.queues.enter(call, control, { name: 'support', maxSize: 9 })
      rig.calls.add({ id: call.id })
      await settle()
    }
    rig.rooms.clock.advance(1_000)
    const [queue] = (await rig.ask('GET', '/Queues.json')).json().queues
    expect(queue).toMatchObject({
      friendly_name: 'support',
      current_size: 2,
      max_size: 9,
      average_wait_time: 0,
    })
    const path = `/Queues/${queue.sid}`
    expect((await rig.ask('GET', `${path}.json`)).json()).toMatchObject({ sid: queue.sid })
    expect((await rig.ask('GET', `${path}/Members.json`)).json().queue_members).toMatchObject(
      callers.map(({ call }, i) => ({ call_sid: call.id, position: i + 1, queue_sid: queue.sid })),
    )
    const front = await rig.ask('GET', `${path}/Members/Front.json`)
    expect(front.json()).toMatchObject({ call_sid: callers[0]?.call.id, position: 1 })
    const form = { Url: 'https://app.example/go', Method: 'GET' }
    await rig.ask('POST', `${path}/Members/${callers[1]?.call.id}.json`, form)
    expect(rig.calls.redirects).toEqual([
      [callers[1]?.call.id, { kind: 'xml', url: 'https://app.example/go', method: 'GET' }, undefined],
    ])
    const missing = await rig.ask('POST', `${path}/Members/Front`, {})
    expect(missing.json().code).toBe(21205)
  })
})

describe('applications and documents', () => {
  it('can be created, changed, listed and removed', async () => {
    const made = await rig.ask('POST', '/Applications.json', {
      FriendlyName: 'shop',
      VoiceUrl: 'https://app.example/a',
      VoiceMethod: 'GET',
      SmsUrl: 'x',
    })
    expect(made.json()).toMatchObject({
      friendly_name: 'shop',
      voice_method: 'GET',
      voice_fallback_url: null,
    })
    const { sid } = made.json()
    const path = `/Applications/${sid}.json`
    const changed = await rig.ask('POST', path, { VoiceUrl: 'https://app.example/b' })
    expect(changed.json()).toMatchObject({ voice_url: 'https://app.example/b', voice_method: 'GET' })
    expect((await rig.ask('GET', '/Applications?FriendlyName=shop')).json().applications).toHaveLength(1)
    expect((await rig.ask('DELETE', path)).statusCode).toBe(204)
    expect((await rig.ask('GET', path)).json().code).toBe(20404)
  })

  it.each(['http://a.example:99999/', 'http://', 'ftp://a.example/'])(
    'have valid URLs: %s is rejected',
    async (url) => {
      for (const [path, form] of [
        ['/Applications', { VoiceUrl: url }],
        ['/Calls', { To: '+15550001', From: '+15550002', Url: url }],
      ] as const) {
        const { statusCode, body } = await rig.ask('POST', path, form)
        expect([path, statusCode, JSON.parse(body).code]).toEqual([path, 400, 21402])
      }
    },
  )

  it('are checked if they are documents', async () => {
    const bad = await rig.ask('POST', '/LamlBins', { Name: 'x', Contents: '<Response>' })
    expect([bad.statusCode, bad.json().code]).toEqual([400, 20422])
    const made = await rig.ask('POST', '/LamlBins', { Name: 'x', Contents: '<Response/>' })
    const path = `/LamlBins/${made.json().sid}`
    const changed = await rig.ask('POST', path, { Contents: '<Response><Hangup/></Response>' })
    expect(changed.json()).toMatchObject({ name: 'x', contents: '<Response><Hangup/></Response>' })
    const worse = await rig.ask('POST', path, { Contents: '<Response' })
    expect(worse.json().code).toBe(20422)
    expect((await rig.ask('GET', '/LamlBins.json')).json().laml_bins).toHaveLength(1)
    expect((await rig.ask('DELETE', path)).statusCode).toBe(204)
  })
})
