// Scripts by which a scheduler runs a study's shards.
//
// Guarantees: at most 40 lines each; a shard that was done is done at once when it is asked for again, so each of them may simply be started again; paths
// with spaces are quoted as each language quotes.

import ArgumentParser
import IsletCommands
import IsletFiles

enum PlanScript: String, CaseIterable, ExpressibleByArgument {
    case slurm, kubernetes, condor, snakemake, shell

    /// The most indices of an array job that Slurm takes where nobody has set another number.
    static let slurmArray = 1000

    /// - Parameter run: the words of `islet run STUDY` with its options.
    func text(run: [String], shards: Int, store: String) -> String {
        let command = run.map(shellWord).joined(separator: " ")
        let place = shellWord(store)
        switch self {
        case .slurm: return Self.slurm(command, shards, place)
        case .kubernetes: return Self.kubernetes(run, shards, store)
        case .condor: return Self.condor(run, shards, store)
        case .snakemake: return Self.snakemake(command, shards, place)
        case .shell: return Self.shell(command, shards, place)
        }
    }

    private static func slurm(_ command: String, _ shards: Int, _ store: String) -> String {
        let tasks = min(shards, slurmArray)
        let indices = tasks == shards ? "1-\(shards)" : "1-\(tasks)"
        return """
            #!/bin/bash
            # \(shards) shards. `sbatch` this file; once more after a loss: what is done is left alone at once.
            # Only what is missing: sbatch --array="$(islet status \(store) --missing --ranges)" FILE\(tasks == shards ? "" : "   (here of tasks, not of shards)")
            # `islet` has to be in PATH on each node: the tarball of `make package`, unpacked where all nodes see it.
            #SBATCH --job-name=islet
            #SBATCH --array=\(indices)
            #SBATCH --ntasks=1
            #SBATCH --cpus-per-task=1
            #SBATCH --mem=500M
            #SBATCH --time=04:00:00
            #SBATCH --requeue
            #SBATCH --open-mode=append
            #SBATCH --output=islet-%A_%a.out
            set -u
            status=0
            for ((shard = SLURM_ARRAY_TASK_ID; shard <= \(shards); shard += \(tasks))); do
              \(command) --shard "$shard/\(shards)" --into \(store) --jobs 1 --quiet || status=$?
            done
            # 75: something temporary stood in the way (a full disk, a stop). Twice at most the task is put back.
            if [ "$status" = 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 2 ]; then
              scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
            fi
            exit "$status"

            """
    }

    private static func kubernetes(_ run: [String], _ shards: Int, _ store: String) -> String {
        let command =
            (["exec"] + run.map(shellWord)).joined(separator: " ")
            + " --shard $((JOB_COMPLETION_INDEX + 1))/\(shards) --into \(shellWord(store)) --jobs 1 --quiet"
        return """
            # \(shards) shards: kubectl apply -f FILE. The image is the container file's (.ci/package/Containerfile); the claim `islet` is a volume that many
            # nodes may write, with the study and the store in it. Again: kubectl delete job islet, then apply; what is done is left alone.
            apiVersion: batch/v1
            kind: Job
            metadata: { name: islet }
            spec:
              completionMode: Indexed
              completions: \(shards)
              parallelism: \(min(shards, 10))
              backoffLimitPerIndex: 3
              maxFailedIndexes: \(max(1, shards / 10))
              podFailurePolicy:
                rules:
                  # An eviction or a lost node is nobody's failure; bad input stays bad however often it is tried.
                  - { action: Ignore, onPodConditions: [{ type: DisruptionTarget, status: "True" }] }
                  - { action: FailJob, onExitCodes: { containerName: islet, operator: In, values: [64, 65, 66] } }
              template:
                spec:
                  restartPolicy: Never
                  securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 }
                  containers:
                    - name: islet
                      image: islet
                      workingDir: /data
                      command: ["/bin/sh", "-c", \(JSONValue.quoted(command))]
                      resources: { requests: { cpu: "1", memory: 256Mi }, limits: { memory: 1Gi } }
                      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
                      volumeMounts: [{ name: data, mountPath: /data }, { name: tmp, mountPath: /tmp }]
                  volumes:
                    - { name: data, persistentVolumeClaim: { claimName: islet } }
                    - { name: tmp, emptyDir: {} }

            """
    }

    private static func condor(_ run: [String], _ shards: Int, _ store: String) -> String {
        /// As HTCondor takes one argument within the double quotes around all of them.
        func word(_ text: String) -> String {
            let doubled = text.split(separator: "\"", omittingEmptySubsequences: false).joined(
                separator: "\"\"")
            guard text.contains(where: { $0 == " " || $0 == "'" || $0 == "\t" }) else { return doubled }
            return "'"
                + doubled.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
                + "'"
        }
        let words =
            run.dropFirst().map(word) + [
                "--shard", "$(shard)/\(shards)", "--into", word(store), "--jobs", "1", "--quiet",
            ]
        return """
            # \(shards) shards: condor_submit FILE. Again after a loss: what is done is left alone.
            # Study and store are on a file system that all machines see; islet is the tarball's of `make package`.
            executable = /usr/local/bin/islet
            transfer_executable = false
            should_transfer_files = no
            arguments = "\(words.joined(separator: " "))"
            index = $(Process) + 1
            shard = $INT(index)
            log = islet.log
            output = islet-$(Cluster)-$(shard).out
            error = islet-$(Cluster)-$(shard).err
            request_cpus = 1
            request_memory = 500M
            request_disk = 1G
            # 75: temporary. Anything else that fails stays failed.
            on_exit_remove = (ExitBySignal == False && ExitCode != 75) || NumJobStarts >= 3
            queue \(shards)

            """
    }

    private static func snakemake(_ command: String, _ shards: Int, _ store: String) -> String {
        func text(_ text: String) -> String { JSONValue.quoted(text) }
        // Braces are Snakemake's own.
        let doubled = command.map { $0 == "{" || $0 == "}" ? "\($0)\($0)" : "\($0)" }.joined()
        let plain = store.map { $0 == "{" || $0 == "}" ? "\($0)\($0)" : "\($0)" }.joined()
        return """
            # \(shards) shards: snakemake --cores all --keep-going --rerun-incomplete (or an executor of yours, as --executor slurm).
            # A shard's output is its mark in the store, which `islet` makes itself; what is done is left alone.
            from pathlib import Path

            SHARDS = \(shards)
            MARKS = Path("shards")


            rule all:
                input:
                    [MARKS / f"{shard}.done" for shard in range(1, SHARDS + 1)],


            rule shard:
                output:
                    touch(MARKS / "{shard}.done"),
                retries: 3
                threads: 1
                resources:
                    mem_mb=500,
                shell:
                    \(text("\(doubled) --shard {wildcards.shard}/\(shards) --into \(plain) --jobs 1 --quiet"))

            """
    }

    private static func shell(_ command: String, _ shards: Int, _ store: String) -> String {
        """
        #!/bin/sh
        # \(shards) shards on this machine, as many at once as it has cores. Start it on several that see the store, too:
        # each takes what is missing and nobody is at. Once more after a loss: what is done is left alone.
        set -u
        cores=${CORES:-$(nproc)}
        shards=$(seq 1 \(shards))
        if [ -e \(store)/store.json ]; then shards=$(islet status \(store) --missing) || exit; fi
        # Another order on each machine, so that they seldom try the same one.
        printf '%s\\n' $shards | shuf | xargs -r -n 1 -P "$cores" sh -c '
          \(command.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")) --shard "$1/\(shards)" --into \(store.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")) --jobs 1 --quiet
        ' islet
        status=$?
        islet status \(store)
        exit $status

        """
    }
}
