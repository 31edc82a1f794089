/** `scripts/bench`. */
import { agents } from './agents/agents.ts'
import { api } from './api.ts'
import { busy } from './busy.ts'
import { calls } from './calls.ts'
import { compose } from './compose.ts'
import { machine } from './machine.ts'
import { media } from './media.ts'
import { mixing } from './mixing.ts'
import { roomDelay } from './room-delay.ts'
import { roomRecording } from './room-recording.ts'
import { roomSize } from './room-size.ts'
import { roomSoak } from './room-soak.ts'
import { rooms } from './rooms/rooms.ts'
import { sfu } from './sfu.ts'
import { sip } from './sip.ts'
import { soak } from './soak.ts'
import { start } from './start.ts'

const [what, ...numbers] = process.argv.slice(2)
const run = {
  start,
  sip,
  media: () => media(...numbers.map(Number)),
  mixer: () => mixing(...numbers.map(Number)),
  busy: () => busy(...numbers.map(Number)),
  calls: () => calls(...numbers.map(Number)),
  api: () => api(...numbers.map(Number)),
  compose: () => compose(...numbers.map(Number)),
  agents: () => agents(...numbers),
  rooms: () => rooms(...numbers),
  sfu: () => sfu(...numbers.map(Number)),
  'room-delay': () => roomDelay(...numbers.map(Number)),
  'room-size': () => roomSize(...numbers.map(Number)),
  'room-soak': () => roomSoak(...numbers.map(Number)),
  'room-recording': () => roomRecording(...numbers.map(Number)),
  soak: () => soak(...numbers.map(Number)),
}[what ?? '']

if (!run) {
  console.error(
    'usage: scripts/bench start | sip | media [rounds] [seconds] | mixer [rounds] [seconds] | ' +
      'busy [seconds] | calls [calls] [seconds] | api [seconds] [subscribers] | compose [seconds] | ' +
      'agents PART [turns] | rooms PART [rounds] | sfu [rounds] [cameras] [viewers] [seconds] | ' +
      'room-delay [seconds] | room-size [listeners] [telephones] [seconds] | ' +
      'room-recording [rooms] [rounds] [seconds] | ' +
      'room-soak [joins] | soak [minutes] [calls/s] [untrusted requests/s]',
  )
  process.exit(2)
}
console.log(machine())
await run()
process.exit(0)
