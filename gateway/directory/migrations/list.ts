import { carriers } from './carriers.ts'
import { chat } from './chat.ts'
import { first } from './first.ts'
import { lost } from './lost.ts'
import { projects } from './projects.ts'
import { records } from './records.ts'
import type { Migration } from './run.ts'
import { tokens } from './tokens.ts'

/** In order; the version is the position, counted from 1. What was released is never edited: a change is a new entry at the end. */
export const migrations: readonly Migration[] = [...first, projects, tokens, records, carriers, chat, lost]
