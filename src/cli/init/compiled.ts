import type { Listing, Part } from './listing.ts'

/** These tools fetch what they need, so there is nothing to set up. */
const whole = (because: string, checks: Part['checks']): Part => ({ setup: '', checks, because })

export const ofCargo = ({ names }: Listing): Part | undefined =>
  names.includes('Cargo.toml') ? whole('Cargo.toml', [{ name: 'test', command: 'cargo test' }]) : undefined

export const ofGo = ({ names }: Listing): Part | undefined =>
  names.includes('go.mod')
    ? whole('go.mod', [
        { name: 'vet', command: 'go vet ./...' },
        { name: 'test', command: 'go test ./...' },
      ])
    : undefined

export const maven = ({ names }: Listing): Part | undefined =>
  names.includes('pom.xml')
    ? whole('pom.xml', [{ name: 'verify', command: `${names.includes('mvnw') ? './mvnw' : 'mvn'} -q -B verify` }])
    : undefined

export function gradle({ names }: Listing): Part | undefined {
  const file = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'].find(name =>
    names.includes(name),
  )
  return file
    ? whole(file, [{ name: 'check', command: `${names.includes('gradlew') ? './gradlew' : 'gradle'} check` }])
    : undefined
}
