import type { TestStreamServer } from '../../../gateway/streams/testing/stream-server.ts'
import { script } from '../applications.ts'
import type { Browser } from '../browser.ts'
import { Carrier } from '../carrier.ts'
import { act, dials } from '../client-calls.ts'
import { ClientPage } from '../client-page.ts'
import { made, rest } from '../rest.ts'
import { until } from '../until.ts'
import type { ApiRecorder } from './recorder.ts'

const from = '+15550100'

/** Domain whose callers hear nothing and stay. */
export const tourDomain = 'shop.example'

const tourRoomRecordings = async (api: ApiRecorder): Promise<void> => {
  const room = { name: 'board', record_on_start: true, record_members: true }
  await rest(api.gateway, 'POST', '/api/fabric/resources/conference_rooms', room)
  const carrier = await callee(api)
  // Not recorded: the examples of calls are those of the calls before.
  const params = { from, to: carrier.uri, swml: script({ join_room: { name: room.name } }) }
  const { body } = await rest(api.gateway, 'POST', path, { command: 'dial', params })
  await carrier.talks('invited', 440)
  await until(
    'the room is recorded',
    () => api.gateway.metric('recordings'),
    (count) => count === 1,
  )
  const since = Date.now()
  await until(
    'the recording has a second of sound',
    async () => Date.now() - since,
    (ms) => ms > 1_500,
  )
  await rest(api.gateway, 'POST', path, { command: 'calling.end', id: body.id, params: { reason: 'hangup' } })
  await carrier.done()
  await api.gateway.settled()
  await until(
    'the recording is complete',
    () => api.gateway.metric('recordings'),
    (count) => count === 0,
  )
  const recordings = '/api/video/room_recordings'
  const { data } = await api.json('GET', `${recordings}?page_size=1`)
  const [recording] = data
  const url = `${recordings}/${recording.id}`
  await api.json('GET', url)
  await api.json('GET', `/api/recordings/${recording.id}/files/${recording.files[0].name}`)
  await api.json('GET', `/api/video/room_sessions/${recording.room_session_id}/recordings`)
  await api.json('DELETE', url)
  await api.json('GET', url, undefined, { status: 404 })
}

/** Lets a SIP callee wait for a call. The examples show its host as that of a carrier. */
export const callee = async (api: ApiRecorder): Promise<Carrier> => {
  const carrier = await Carrier.listens({ scenario: 'callee' })
  api.stable.rename(`127.0.0.1:${carrier.sipp.port}`, 'carrier.example')
  return carrier
}

/**
 * Calls of the API, their commands, records and recordings. `streams` receives their audio. `browser` opens
 * the page of a subscriber.
 */
export const tourCalls = async (
  api: ApiRecorder,
  streams: TestStreamServer,
  browser: Browser,
): Promise<void> => {
  await api.json('POST', path, { command: 'dial', params: { from, timeout: 'soon' } }, { status: 422 })
  await api.json('POST', path, { command: 'dial' }, { status: 401, credentials: 'Basic ZGVtbzp3cm9uZw==' })
  const { carrier, id } = await dialled(api)
  await carrier.talks('invited', 440)
  await tourOperations(api, id, streams)
  await api.json('GET', '/api/voice/logs?page_size=1')
  await tourRpc(api, id)
  await endsBy(api, carrier, { command: 'calling.end', id, params: { reason: 'hangup' } })
  await tourRedirects(api)
  await tourConnected(api)
  await tourUserEvent(api, browser)
  await tourRefer(api)
  await tourRecords(api, id)
  await tourRecordings(api)
  await tourRoomRecordings(api)
}

const path = '/api/calling/calls'

/** Places a call with a script, and waits for its answer. */
const dialled = async (api: ApiRecorder, ...steps: readonly unknown[]) => {
  const carrier = await callee(api)
  const { id } = await api.json('POST', path, {
    command: 'dial',
    params: {
      from,
      to: carrier.uri,
      swml: script(...steps, { sleep: -1 }),
      status_url: 'https://app.example.com/status',
      status_events: ['answered', 'ended'],
    },
  })
  await carrier.sipp.event('confirmed')
  await until(
    'the call is in progress',
    () => api.json('GET', `/api/voice/logs/${id}`),
    ({ status }) => status === 'in-progress',
  )
  return { carrier, id: String(id) }
}

/** Sends the command that ends a call; afterwards the same command is rejected. */
const endsBy = async (api: ApiRecorder, carrier: Carrier, command: object): Promise<void> => {
  await api.json('POST', path, command)
  await carrier.done()
  await api.gateway.settled()
  await api.json('POST', path, command, { status: 409 })
}

/** Starts, changes and stops each kind of operation on a call. */
const tourOperations = async (api: ApiRecorder, id: string, streams: TestStreamServer): Promise<void> => {
  const send = (command: string, params: object) => api.json('POST', path, { command, id, params })
  const silence = { type: 'silence', params: { duration: 60 } }
  const operations: readonly [name: string, params: object, changes: Readonly<Record<string, object>>][] = [
    ['play', { play: [silence], volume: -3 }, { pause: {}, resume: {}, volume: { volume: 6 }, stop: {} }],
    [
      'record',
      { record: { audio: { direction: 'both', stereo: true, initial_timeout: 0, end_silence_timeout: 0 } } },
      { pause: { behavior: 'skip' }, resume: {}, stop: {} },
    ],
    [
      'collect',
      { digits: { max: 4, terminators: '#' }, initial_timeout: 10 },
      { start_input_timers: {}, stop: {} },
    ],
    [
      'play_and_collect',
      { play: [silence], collect: { digits: { max: 1 }, initial_timeout: 5 } },
      { volume: { volume: 3 }, stop: {} },
    ],
    ['detect', { detect: { type: 'machine', params: { initial_timeout: 4.5 } }, timeout: 30 }, { stop: {} }],
    [
      'tap',
      {
        tap: { type: 'audio', params: { direction: 'both' } },
        device: { type: 'ws', params: { uri: streams.url, codec: 'PCMU' } },
      },
      { stop: {} },
    ],
  ]
  for (const [name, params, changes] of operations) {
    const control = { control_id: `my-${name.replaceAll('_', '-')}` }
    await send(`calling.${name}`, { ...control, ...params })
    if (name === 'record') await tourStream(api, id, streams)
    for (const [change, more] of Object.entries(changes))
      await send(`calling.${name}.${change}`, { ...control, ...more })
  }
  await send('calling.send_digits', { control_id: 'my-digits', digits: '12#' })
  await send('calling.hold', {})
  await send('calling.unhold', {})
  const unknown = { command: 'calling.play.stop', id, params: { control_id: 'my-music' } }
  await api.json('POST', path, unknown, { status: 404 })
}

/** Streams the audio of a call that is recorded. The server has received some when the recording has some. */
const tourStream = async (api: ApiRecorder, id: string, streams: TestStreamServer): Promise<void> => {
  await until(
    'the recording runs',
    () => api.gateway.metric('media_recordings'),
    (count) => count === 1,
  )
  const control = { control_id: 'my-stream' }
  const stream = { url: streams.url, name: 'live', custom_parameters: { order: '7' } }
  await api.json('POST', path, { command: 'calling.stream', id, params: { ...control, ...stream } })
  await until(
    'the server receives audio',
    () => streams.of('media').length,
    (count) => count > 25,
  )
  await api.json('POST', path, { command: 'calling.stream.stop', id, params: control })
}

/** The same commands as JSON-RPC. */
const tourRpc = async (api: ApiRecorder, id: string): Promise<void> => {
  const digits = { id, control_id: 'more-digits', digits: '5' }
  const request = { jsonrpc: '2.0', id: 1, method: 'calling.send_digits', params: digits }
  await api.json('POST', '/api/calling/rpc', request)
}

/** Calls whose document is replaced, and that are ended by `update`. */
const tourRedirects = async (api: ApiRecorder): Promise<void> => {
  const { carrier, id } = await dialled(api)
  const dest = JSON.stringify(script({ sleep: -1 }))
  await api.json('POST', path, { command: 'calling.transfer', id, params: { dest } })
  await endsBy(api, carrier, { command: 'update', params: { id, status: 'completed' } })
}

/** The page of a subscriber that calls a script, and receives an event. */
const tourUserEvent = async (api: ApiRecorder, browser: Browser): Promise<void> => {
  await made(api.gateway, '/api/fabric/resources/swml_scripts', {
    name: 'Lobby',
    address: '/public/lobby',
    contents: script('answer', { sleep: -1 }),
  })
  const page = await ClientPage.open(browser, api.gateway, await api.gateway.token())
  await dials(page, '/public/lobby')
  const event = { type: 'order_found', order: 7 }
  const id = await callInProgress(api)
  await api.json('POST', path, { command: 'calling.user_event', id, params: { event } })
  await act(page, 'hangup')
  await page.close()
  await api.gateway.settled()
}

/** Waits until one call is in progress, and returns its id. */
const callInProgress = async (api: ApiRecorder): Promise<string> => {
  const { data } = await until(
    'one call is in progress',
    () => api.json('GET', '/api/voice/logs?status=in-progress'),
    (answer) => answer.data.length === 1,
  )
  return data[0].id
}

/** A caller who is referred to another destination. */
const tourRefer = async (api: ApiRecorder): Promise<void> => {
  const caller = await Carrier.calls(api.gateway, {
    domain: tourDomain,
    scenario: 'call-referred',
    holdMs: 'manual',
  })
  await caller.sipp.event('answered')
  const id = await callInProgress(api)
  const device = { type: 'sip', params: { to: 'sip:desk@office.example.com' } }
  const params = { control_id: 'my-refer', device }
  await api.json('POST', path, { command: 'calling.refer', id, params })
  await caller.sipp.event('referred')
  await caller.goesOn()
  await caller.done()
  await api.gateway.settled()
}

/** A call that is connected to a second one, and parted from it. */
const tourConnected = async (api: ApiRecorder): Promise<void> => {
  const second = await callee(api)
  const { carrier, id } = await dialled(api, { connect: { to: second.uri } }, { sleep: -1 })
  await second.sipp.event('confirmed')
  await api.json('POST', path, { command: 'calling.disconnect', id, params: {} })
  await second.done()
  await endsBy(api, carrier, { command: 'calling.end', id, params: { reason: 'hangup' } })
}

const tourRecords = async (api: ApiRecorder, call: string): Promise<void> => {
  const calls = await api.json('GET', '/api/records/calls?page_size=1')
  await api.json('GET', `/api/records/calls/${calls.data[0].id}`)
  const legs = await api.json('GET', '/api/records/legs?page_size=1')
  await api.json('GET', `/api/records/legs/${legs.data[0].id}`)
  await api.json('GET', `/api/voice/logs/${call}`)
  await api.json('GET', `/api/voice/logs/${call}/events`)
  await api.json('GET', `/api/voice/logs/${crypto.randomUUID()}`, undefined, { status: 404 })
}

const tourRecordings = async (api: ApiRecorder): Promise<void> => {
  const path = '/api/recordings'
  const { data } = await until(
    'the recording is stored',
    () => api.json('GET', `${path}?page_size=1`),
    (answer) => answer.data.length === 1,
  )
  const [{ id }] = data
  await api.json('GET', `${path}/${id}`)
  await api.json('GET', `${path}/${id}/audio`)
  await api.json('DELETE', `${path}/${id}`)
  await api.json('GET', `${path}/${id}`, undefined, { status: 404 })
}
