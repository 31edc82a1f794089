import { carriers } from './carrier-tables.ts'
import { chat } from './chat.ts'
import { first } from './first.ts'
import { lost } from './lost.ts'
import { projects } from './project-tables.ts'
import { records } from './records.ts'
import type { Migration } from './run.ts'
import { tokens } from './token-tables.ts'

/**
 * All migrations in order; the version is the position, from 1. A released one must never be edited: a change
 * is a new entry at the end.
 */
export const migrations: readonly Migration[] = [...first, projects, tokens, records, carriers, chat, lost]
