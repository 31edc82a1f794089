import type { VerbKind } from '../verb.ts'
import { connect } from './connect.ts'
import { hangup, leave, redirect, reject } from './control-flow.ts'
import { dial } from './dial.ts'
import { echo } from './echo.ts'
import { enqueue } from './enqueue.ts'
import { gather } from './gather.ts'
import { pause } from './pause.ts'
import { play } from './play.ts'
import { record } from './record.ts'
import { refer } from './refer.ts'
import { say } from './say.ts'
import { start, stop } from './streams.ts'

/** All verbs of the language. */
export const verbs: readonly VerbKind[] = [
  say,
  play,
  pause,
  gather,
  record,
  echo,
  dial,
  enqueue,
  leave,
  refer,
  start,
  stop,
  connect,
  redirect,
  reject,
  hangup,
]
