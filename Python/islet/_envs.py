"""The names of the environments: told to Gymnasium when it is imported (an entry point), or when `islet.gym` is."""


def register_all():
    import gymnasium
    for name in ("Loop", "Alarms"):
        if "islet/%s-v0" % name not in gymnasium.registry:
            gymnasium.register(
                "islet/%s-v0" % name, entry_point="islet.gym:" + name, vector_entry_point="islet.gym:%sVector" % name)


def register():
    """Called by Gymnasium within the namespace `islet`."""
    from gymnasium.envs.registration import register as add, registry
    for name in ("Loop", "Alarms"):
        if "islet/%s-v0" % name not in registry:
            add("islet/%s-v0" % name, entry_point="islet.gym:" + name, vector_entry_point="islet.gym:%sVector" % name)
