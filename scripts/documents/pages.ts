import { commandLinePage } from './command-line.ts'
import { configurationPage } from './configuration.ts'
import { configurationErrorsPage } from './configuration-errors.ts'
import { errorsPage } from './errors.ts'
import { eventsPage } from './events.ts'
import { openApiPage } from './openapi.ts'
import { scriptPage } from './script.ts'
import { xmlPage } from './xml.ts'

/** The pages that are made from the code, by file name in `docs/`. */
export const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'command-line.md': commandLinePage,
  'configuration.md': configurationPage,
  'configuration-errors.md': configurationErrorsPage,
  'errors.md': errorsPage,
  'events.md': eventsPage,
  'openapi.json': openApiPage,
  'script.md': scriptPage,
  'xml.md': xmlPage,
}
