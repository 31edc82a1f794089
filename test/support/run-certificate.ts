import type { TestProject } from 'vitest/node'
import { type CertificateFiles, CertificateFolder } from './certificates.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Certificate of the TLS listeners of all gateways of a run without their own certificate. */
    certificate: CertificateFiles
  }
}

/**
 * Global set-up of Vitest: creates one certificate for a run, because each gateway would need a quarter of a
 * second for its own.
 */
export const setup = async (project: Pick<TestProject, 'provide'>): Promise<() => void> => {
  const folder = await CertificateFolder.open()
  project.provide('certificate', await folder.issue('gw.localhost', 'fabric.localhost'))
  return () => folder.remove()
}
