/**
 * The caller hangs up while a handler is busy: every activity ends, and the customer's server gets its
 * callbacks.
 */
import { afterAll, afterEach, beforeAll } from 'vitest'
import { TestStreamServer } from '../../gateway/streams/testing/stream-server.ts'
import { Hangups, hangupTests } from '../support/hangups.ts'
import { connectHangups } from './groups/hangup-connect.ts'
import { realtimeHangups } from './groups/hangup-realtime.ts'
import { roomHangups } from './groups/hangup-rooms.ts'
import { serverHangups } from './groups/hangup-servers.ts'
import { verbHangups } from './groups/hangup-verbs.ts'

const streams = await TestStreamServer.open()
const stage = new Hangups()

beforeAll(() => stage.start())
afterEach(() => {
  streams.messages.length = 0
})
afterAll(async () => {
  await stage.stop()
  await streams.close()
})

hangupTests(stage, verbHangups(stage))
hangupTests(stage, connectHangups(stage))
hangupTests(stage, roomHangups(stage))
realtimeHangups(stage, streams)
// The last one: its slow server takes the path of the documents.
hangupTests(stage, serverHangups(stage, streams))
