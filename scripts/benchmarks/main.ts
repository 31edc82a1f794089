/** `scripts/bench`. */
import { machine } from './machine.ts'
import { media } from './media.ts'
import { sip } from './sip.ts'
import { start } from './start.ts'

const [what, ...numbers] = process.argv.slice(2)
const run = { start, sip, media: () => media(...numbers.map(Number)) }[what ?? '']

if (!run) {
  console.error('usage: scripts/bench start | sip | media [calls] [seconds]')
  process.exit(2)
}
console.log(machine())
await run()
process.exit(0)
