import { configurationPage } from './configuration.ts'
import { errorsPage } from './errors.ts'
import { handlersPage } from './handlers.ts'
import { xmlPage } from './xml.ts'

/** The pages that are made from the code, by file name in `docs/`. */
export const pages: Readonly<Record<string, () => string>> = {
  'configuration.md': configurationPage,
  'errors.md': errorsPage,
  'handlers.md': handlersPage,
  'xml.md': xmlPage,
}
