// What the loop writes, and what it does while it can't.
//
// Guarantees: no bolus is sent that is not written down, nor any while something else is not; a change that the person
// asks for is kept or refused, never forgotten at the next launch; what became known meanwhile is written first when the
// store writes again, and steps go on then by themselves.

import IsletDevices
public import IsletKernel

/// The outcome of a request that is not in the log yet.
struct UnwrittenOutcome {
    var requestID: Int64
    var accepted: InsulinAmount?
    var pumpError: String
}

/// What a loop goes on from at its launch.
struct KeptLoop {
    var memory: LoopMemory
    /// What the store still lacks.
    var unwritten: [UnwrittenOutcome] = []
    var isStoreBehind = false
}

extension LoopController {
    /// Writes what the store lacks. Says whether it lacks nothing: only then may anything be sent.
    @inline(__always)
    func catchUp() -> Bool { isStoreBehind ? writeBehind() : true }

    private func writeBehind() -> Bool {
        guard let store else { return true }
        do {
            while let outcome = unwritten.first {
                try store.settle(
                    outcome.requestID, accepted: outcome.accepted, pumpError: outcome.pumpError, memory)
                unwritten.removeFirst()
            }
            try store.save(memory)
        } catch {
            return false
        }
        isStoreBehind = false
        journal.record(.loopStore, at: executor.now, 1)
        return true
    }

    /// Writes the memory, now or as soon as the store writes again: for what has happened and can't be taken back.
    func saveMemory() {
        guard let store, isLoaded else { return }
        do { if !isStoreBehind { try store.save(memory) } } catch { fallBehind() }
    }

    /// Changes the memory and writes it.
    /// - Throws: `LoopError.notKept`; nothing has changed then.
    func change(_ body: (inout LoopMemory) -> Void) throws {
        // What is stored must be known before anything is written over it.
        if !isLoaded { load() }
        guard isLoaded else { throw LoopError.notKept }
        guard let store else { return body(&memory) }
        var changed = memory
        body(&changed)
        guard catchUp() else { throw LoopError.notKept }
        do { try store.save(changed) } catch {
            fallBehind()
            throw LoopError.notKept
        }
        memory = changed
    }

    /// Writes the outcome of a request, now or as soon as the store writes again. A crash before that finds the request
    /// as sent, and asks the pump.
    func saveOutcome(of requestID: Int64, accepted: InsulinAmount?, pumpError: String) {
        log?.settle(requestID, accepted: accepted, pumpError: pumpError)
        account?.settle(requestID, accepted: accepted)
        guard let store else { return }
        if !isStoreBehind {
            do {
                return try store.settle(requestID, accepted: accepted, pumpError: pumpError, memory)
            } catch {
                fallBehind()
            }
        }
        unwritten.append(UnwrittenOutcome(requestID: requestID, accepted: accepted, pumpError: pumpError))
    }

    func fallBehind() {
        guard !isStoreBehind else { return }
        isStoreBehind = true
        journal.record(.loopStore, at: executor.now, 0)
    }

    /// A step that couldn't be written is a failed one: its number is spent, nothing is sent, what the person said stays, and
    /// the pump goes on with its programmed basal.
    func failUnwritten() {
        fallBehind()
        let number = memory.algorithmTime
        spendStep(succeeded: false)
        memory.stepsFailed += 1
        applyBasal()
        journal.record(.step, at: executor.now, UInt64(bitPattern: number), 0, 0, 1)
        recorder.step(
            StepRow(
                instant: executor.now, algorithmTime: number, cgmMgdl: nil, isPumpAvailable: false,
                basalUnits: 0, correctionUnits: 0, mealUnits: 0, acceptedUnits: 0,
                failure: "the loop's store can't write"))
        tellObservers(succeeded: false)
        displaced(by: number)
        tellInsulin(of: number)
    }

    // MARK: Launching

    /// Reads what a launch goes on from. Where the store can't be read nothing is known of insulin under way: nothing runs
    /// until it can.
    func load() {
        do {
            let known = try atDeath.state ?? adopted ?? store?.load().map { KeptLoop(memory: $0) }
            isLoaded = true
            guard let known else { return }
            memory = known.memory
            unwritten = known.unwritten
            isStoreBehind = known.isStoreBehind
        } catch {
            isLoaded = false
            journal.record(.loopStore, at: executor.now, 0)
            return
        }
        takeUpState()
    }

    /// A state of another algorithm, version or type is not understood: the algorithm starts with a new one, and is told what the log
    /// knows of the hours before.
    func takeUpState() {
        guard let stored = memory.algorithm else { return }
        let mine = AlgorithmIdentity(algorithm)
        state.clear()
        guard stored != mine || memory.algorithmState.map(state.restore) == false else { return }
        memory.refusedState = stored
        memory.algorithm = mine
        memory.beginAnew()
        journal.record(
            .stateRefused, at: executor.now, UInt64(bitPattern: Int64(stored.version)),
            UInt64(bitPattern: Int64(mine.version)))
        saveMemory()
    }
}

extension EventKind {
    /// Words: 1 the loop's store writes again, 0 it can't.
    public static let loopStore = EventKind(0x320, "loopStore")
    /// A saved state of another algorithm, version or type was refused. Words: version of the state, of the algorithm.
    public static let stateRefused = EventKind(0x321, "stateRefused")
}
